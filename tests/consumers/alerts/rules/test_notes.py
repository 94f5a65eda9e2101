"""What people say of groups."""

from typing import Any

import pytest

from consumers.alerts.fields import AlertRefused
from consumers.alerts.measured import SITE, Subject
from consumers.alerts.notes import EMPTY_NOTE, NoteContent, Notes, checked_note, notes_of
from consumers.models import GroupNote, SubjectKind
from tests.alert_rows import a_note

BILLING = Subject(SubjectKind.GROUP, cluster="prod", group="billing")
ON_ORDERS = Subject(SubjectKind.TOPIC, cluster="prod", group="billing", topic="Orders")
BROKER = Subject(SubjectKind.BROKER, cluster="prod", broker="billing")


def note(pattern: str, **fields: Any) -> GroupNote:
    return GroupNote(group_pattern=pattern, **fields)


def test_the_first_note_that_has_a_field_tells_it_and_labels_add_up() -> None:
    notes = notes_of(
        [
            note("billing", owner="ann", labels={"team": "payments"}),
            note("bill*", owner="bob", runbook_url="https://wiki", labels={"team": "all", "tier": "1"}),
            note("shop", note="Not of it."),
        ]
    )
    said = NoteContent("ann", "https://wiki", "", {"team": "payments", "tier": "1"})
    assert (notes.said(BILLING), notes.said(ON_ORDERS)) == (said, said)
    assert notes.labels([BILLING, SITE]) == [said.labels, {}]


def test_nothing_is_said_of_what_is_no_group() -> None:
    notes = notes_of([note("*", owner="ann"), note("", cluster="prod", owner="bob")])
    assert [notes.said(subject) for subject in (SITE, BROKER)] == [EMPTY_NOTE, EMPTY_NOTE]


def test_a_note_of_a_cluster_is_of_its_groups_alone() -> None:
    notes = notes_of([note("*", cluster="test", owner="ann")])
    assert notes.said(BILLING) == EMPTY_NOTE


@pytest.mark.django_db
def test_the_lowest_position_counts_first() -> None:
    a_note("bill*", owner="later", position=2)
    a_note("bill*", owner="first", position=1)
    assert Notes.of_site().said(BILLING).owner == "first"


def test_a_note_that_says_nothing_is_refused() -> None:
    with pytest.raises(AlertRefused, match="Enter at least one of owner"):
        checked_note({"group_pattern": "bill*"})


def test_a_note_of_no_group_is_refused() -> None:
    with pytest.raises(AlertRefused, match="group_pattern: Required"):
        checked_note({"owner": "ann"})


@pytest.mark.parametrize("position", [-1, 1.5, True, "1"])
def test_a_position_is_a_whole_number(position: Any) -> None:
    with pytest.raises(AlertRefused, match="whole number"):
        checked_note({"group_pattern": "bill*", "owner": "ann", "position": position})


@pytest.mark.django_db
def test_what_is_left_out_of_a_change_of_a_note_stays() -> None:
    kept = checked_note({"owner": "bob"}, a_note())
    assert (kept["owner"], kept["group_pattern"], kept["labels"]) == ("bob", "bill*", {"team": "payments"})
