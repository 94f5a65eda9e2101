"""Channels that people write and remove."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from consumers.alerts.edits import remove_channel, save_channel
from consumers.alerts.fields import AlertRefused
from consumers.models import AuditEvent, Channel, Delivery
from tests.alert_rows import a_channel, a_delivery
from tests.world import NOW

pytestmark = pytest.mark.django_db
SECRET = "canary-0123456789abcdef"
FIELDS: dict[str, Any] = {"name": "on call", "kind": "webhook", "url": f"https://hooks.example.org/{SECRET}"}
FIELDS |= {"secret": SECRET}


@pytest.fixture
def bob() -> User:
    return User.objects.create_user("bob")


def noted() -> list[str]:
    return list(AuditEvent.objects.order_by("pk").values_list("sentence", flat=True))


def test_a_channel_is_kept_with_who_wrote_it_and_without_its_secrets_in_the_open(bob: User) -> None:
    save_channel(FIELDS, None, bob, NOW)
    row = Channel.objects.values().get()
    assert (row["target"], row["changed_by_name"]) == ("https://hooks.example.org", "bob")
    assert SECRET not in f"{row}{noted()}"
    assert noted() == ["Made the channel."]


def test_a_change_leaves_what_it_does_not_name(bob: User) -> None:
    channel = save_channel(FIELDS, None, bob, NOW)
    save_channel({"enabled": False}, channel, bob, NOW)
    channel.refresh_from_db()
    assert (channel.enabled, channel.target, noted()[1]) == (False, "https://hooks.example.org", "Changed enabled.")


def test_what_is_refused_changes_nothing(bob: User) -> None:
    with pytest.raises(AlertRefused) as refusal:
        save_channel(FIELDS | {"url": "ftp://hooks.example.org"}, None, bob, NOW)
    assert (list(refusal.value.errors), Channel.objects.exists()) == (["url"], False)


def test_a_channel_that_is_removed_takes_its_messages_along(bob: User) -> None:
    channel = a_channel()
    a_delivery(channel)
    remove_channel(channel, bob, NOW)
    assert not Channel.objects.exists()
    assert not Delivery.objects.exists()
    assert noted() == ["Removed the channel."]
