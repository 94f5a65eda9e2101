"""Groups by what notes say of them: the same groups as those whose notes say it elsewhere."""

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from consumers.alerts.measured import Subject
from consumers.alerts.notes import Notes
from consumers.groups.noted import known_labels, known_owners, label_of, of_label, of_owner
from consumers.models import ConsumerGroup, GroupNote, SubjectKind
from tests.alert_rows import a_note
from tests.world import a_cluster, a_group

pytestmark = pytest.mark.django_db
GROUPS = ("billing", "billing.eu-1", "billingXeu-1", "audit", "a+b")
PATTERNS = ("*", "bill*", "billing.eu-?", "billing", "a+b", "?udit", "stock")
NOTES = st.lists(
    st.fixed_dictionaries(
        {
            "group_pattern": st.sampled_from(PATTERNS),
            "cluster": st.sampled_from(["", "prod", "te*"]),
            "owner": st.sampled_from(["", "a", "b"]),
            "labels": st.sampled_from([{}, {"team": "x"}, {"team": "y", "tier": "1"}]),
        }
    ),
    max_size=5,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(NOTES)
def test_owners_and_labels_are_those_that_incidents_have(notes: list[dict[str, str]]) -> None:
    if not ConsumerGroup.objects.exists():
        for cluster in ("prod", "test"):
            made = a_cluster(cluster)
            for name in GROUPS:
                a_group(made, name)
    GroupNote.objects.all().delete()
    for position, fields in enumerate(notes):
        a_note(position=position, **fields)
    groups, site = ConsumerGroup.objects.select_related("cluster"), Notes.of_site()
    said = {one: site.said(Subject(SubjectKind.GROUP, cluster=one.cluster.name, group=one.name)) for one in groups}
    for owner in ("a", "b"):
        assert set(of_owner(owner, groups)) == {one for one, note in said.items() if note.owner == owner}
    for value in ("x", "y"):
        found = set(of_label("team", value, groups))
        assert found == {one for one, note in said.items() if note.labels.get("team") == value}
    assert set(of_label("tier", None, groups)) == {one for one, note in said.items() if "tier" in note.labels}


def test_what_notes_name_is_listed_once() -> None:
    for pattern in ("bill*", "audit*"):
        a_note(pattern, owner="payments-team", labels={"team": "payments"})
    assert (known_owners(), known_labels()) == (["payments-team"], ["team=payments"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [("team=payments", ("team", "payments")), ("team", ("team", None)), (" team = a=b ", ("team", "a=b"))],
)
def test_a_label_is_a_name_with_or_without_a_value(text: str, expected: tuple[str, str | None]) -> None:
    assert label_of(text) == expected


@pytest.mark.parametrize("text", ["=payments", "team=", "="])
def test_a_label_without_a_name_or_with_an_empty_value_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="NAME=VALUE"):
        label_of(text)
