from consumers.retries.blocked_rows import BLOCKED_KINDS, BlockedKind
from consumers.retries.checks.condition_rows import FINDINGS, ConditionName
from consumers.vocabulary.findings import FindingSeverity
from dashboard.templatetags.health import FINDING_SEVERITY_LIKE
from dashboard.wording.resets import CONDITIONS


def test_every_condition_severity_and_kind_of_block_has_its_words() -> None:
    assert set(CONDITIONS) == {name.value for name in ConditionName}
    assert set(FINDINGS) == set(ConditionName)
    # A note has no shape.
    assert set(FINDING_SEVERITY_LIKE) == set(FindingSeverity) - {FindingSeverity.INFO}
    assert set(BLOCKED_KINDS) == set(BlockedKind)
