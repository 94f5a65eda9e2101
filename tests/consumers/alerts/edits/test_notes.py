"""Notes about groups that people write and remove."""

import pytest
from django.contrib.auth.models import Group, User

from consumers.alerts.edits import remove_note, save_note
from consumers.alerts.fields import AlertRefused
from consumers.models import AuditEvent, GroupNote
from tests.alert_rows import a_note
from tests.world import NOW

pytestmark = pytest.mark.django_db


@pytest.fixture
def bob() -> User:
    user = User.objects.create_user("bob")
    user.groups.add(Group.objects.get(name="operator"))
    return user


def test_a_note_is_kept_with_who_wrote_it(bob: User) -> None:
    save_note({"group_pattern": "bill*", "owner": "payments"}, None, bob, NOW)
    note = GroupNote.objects.get()
    assert (note.owner, note.changed_at, note.changed_by_name) == ("payments", NOW, "bob")


def test_a_change_leaves_what_it_does_not_name(bob: User) -> None:
    note = a_note()
    save_note({"owner": "billing"}, note, bob, NOW)
    note.refresh_from_db()
    assert (note.owner, note.labels, note.changed_by_name) == ("billing", {"team": "payments"}, "bob")


def test_what_is_refused_changes_nothing(bob: User) -> None:
    with pytest.raises(AlertRefused):
        save_note({"group_pattern": "bill*"}, None, bob, NOW)
    assert not GroupNote.objects.exists()


def test_a_note_that_is_removed_leaves_who_did_it(bob: User) -> None:
    remove_note(a_note(), bob, NOW)
    assert not GroupNote.objects.exists()
    assert AuditEvent.objects.get().sentence == "Removed the note."
