"""What Django's log of actions had is taken over."""

import importlib

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType

from consumers.models import AlertRule, AuditEvent
from tests.world import NOW

pytestmark = pytest.mark.django_db
migration = importlib.import_module("consumers.migrations.0033_audit_events")


def an_entry(flag: int, sentence: str) -> LogEntry:
    return LogEntry.objects.create(
        user=User.objects.get_or_create(username="ann")[0],
        content_type=ContentType.objects.get_for_model(AlertRule),
        object_id="7",
        object_repr="Far behind",
        action_flag=flag,
        change_message=sentence,
        action_time=NOW,
    )


@pytest.mark.parametrize(
    ("flag", "said", "action", "sentence"),
    [
        (1, '[{"added": {}}]', "added", "Added."),
        (2, '[{"changed": {"fields": ["Password"]}}]', "changed", "Changed Password."),
        (2, "Changed threshold.", "changed", "Changed threshold."),
        (3, "", "deleted", "Deleted."),
        (4, "Asked to see the body of the dead letter.", "seen", "Asked to see the body of the dead letter."),
    ],
)
def test_an_entry_becomes_an_event_with_its_name_and_words(flag: int, said: str, action: str, sentence: str) -> None:
    an_entry(flag, said)
    migration.copy_log(apps, None)
    event = AuditEvent.objects.get()
    assert (event.at, event.by_name, event.action, event.sentence) == (NOW, "ann", action, sentence)
    assert (event.subject_kind, event.subject_id, event.subject) == ("alertrule", "7", "Far behind")


def test_more_than_are_written_at_once_all_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "AT_ONCE", 2)
    for number in range(5):
        an_entry(2, f"Changed {number}.")
    migration.copy_log(apps, None)
    assert list(AuditEvent.objects.order_by("pk").values_list("sentence", flat=True)) == [
        f"Changed {number}." for number in range(5)
    ]
