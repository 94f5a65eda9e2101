from consumers.retries.checks.condition_rows import ConditionName, Severity
from consumers.retries.unfinished.blocked_rows import BlockedKind
from dashboard.wording.retries import BLOCKED, CONDITIONS, LIKE, SEVERITIES


def test_every_condition_severity_and_kind_of_block_has_its_words() -> None:
    assert set(CONDITIONS) == {name.value for name in ConditionName}
    assert set(SEVERITIES) == set(LIKE) == set(Severity)
    assert set(BLOCKED) == set(BlockedKind)
