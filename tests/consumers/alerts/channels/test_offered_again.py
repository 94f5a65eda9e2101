"""A firing that its receiver refused for good, or that may have arrived: who is offered it again, and when."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from consumers.alerts.channels.deliver import deliver
from consumers.alerts.queries.deliveries import failing_channels
from consumers.models import AlertRule, Channel, Delivery
from tests.alert_rounds import a_round
from tests.alert_rows import a_rule
from tests.channel_rows import a_webhook
from tests.fake_clock import FakeClock
from tests.http_receiver import HttpReceiver, closes_half_way, status

pytestmark = pytest.mark.django_db
LATE, FINE = 620.0, 12.0
HOUR = 3600.0


@pytest.fixture(autouse=True)
def rule(settings: Any) -> AlertRule:
    settings.ALERT_REPEAT_HOURS = 4
    return a_rule(for_seconds=0, clear_seconds=0)


@pytest.fixture
def channel(receiver: HttpReceiver) -> Channel:
    return a_webhook(receiver.url)


@pytest.fixture
def clock(channel: Channel, receiver: HttpReceiver) -> FakeClock:
    """After an incident fired and its message was refused three times."""
    receiver.answers = [status(404)]
    clock = FakeClock()
    goes(clock, LATE)
    refuse(channel, clock)
    receiver.received.clear()
    receiver.answers = [status(200)]
    return clock


def refuse(channel: Channel, clock: FakeClock) -> None:
    """Until every message is given up."""
    while Delivery.objects.exclude(status="failed").exists():
        clock.at = max(clock.at, deliver(channel.pk, clock, clock.pause) or clock.at)


def goes(clock: FakeClock, value: float, after_seconds: float = 15) -> None:
    clock.pass_by(after_seconds)
    a_round(clock.at, {"billing": value}, *AlertRule.objects.all())


def heard(receiver: HttpReceiver, channel: Channel, clock: FakeClock) -> list[str]:
    deliver(channel.pk, clock, clock.pause)
    return [event["kind"] for one in receiver.received for event in json.loads(one.content)["events"]]


def test_it_is_not_offered_again_before_the_repeat_interval(
    receiver: HttpReceiver, channel: Channel, clock: FakeClock
) -> None:
    goes(clock, LATE, 3.9 * HOUR)
    assert heard(receiver, channel, clock) == []


def test_it_is_offered_again_after_the_repeat_interval_while_it_fires(
    receiver: HttpReceiver, channel: Channel, clock: FakeClock
) -> None:
    goes(clock, LATE, 4 * HOUR)
    assert heard(receiver, channel, clock) == ["firing"]
    goes(clock, LATE, 4 * HOUR)
    goes(clock, FINE)
    assert heard(receiver, channel, clock) == ["firing", "resolved"]


def test_it_is_not_offered_again_once_it_resolved(receiver: HttpReceiver, channel: Channel, clock: FakeClock) -> None:
    goes(clock, FINE, 4 * HOUR)
    assert heard(receiver, channel, clock) == []


def test_one_that_is_refused_again_waits_for_another_interval(
    receiver: HttpReceiver, channel: Channel, clock: FakeClock
) -> None:
    receiver.answers = [status(404)]
    goes(clock, LATE, 4 * HOUR)
    refuse(channel, clock)
    goes(clock, LATE, 3 * HOUR)
    assert list(Delivery.objects.values_list("number", "status")) == [(2, "failed"), (1, "failed")]


def test_a_changed_channel_is_offered_it_at_once(receiver: HttpReceiver, channel: Channel, clock: FakeClock) -> None:
    Channel.objects.update(changed_at=clock())
    goes(clock, LATE)
    assert heard(receiver, channel, clock) == ["firing"]


@pytest.fixture
def failed_clock(channel: Channel, receiver: HttpReceiver, settings: Any) -> FakeClock:
    """After an incident fired, and its receiver failed for as long as a message is tried: it may have arrived."""
    settings.ALERT_DELIVERY_HOURS = 0.1
    receiver.answers = [closes_half_way, status(503)]
    clock = FakeClock()
    goes(clock, LATE)
    refuse(channel, clock)
    return clock


def test_each_try_of_one_that_may_have_arrived_bears_the_same_id(
    receiver: HttpReceiver, failed_clock: FakeClock
) -> None:
    row = Delivery.objects.get()
    assert len(receiver.received) == row.attempts > 3
    assert {one.headers["Consumerscope-Delivery"] for one in receiver.received} == {str(row.pk)}


def test_one_that_may_have_arrived_is_offered_again_with_the_same_event(
    receiver: HttpReceiver, channel: Channel, failed_clock: FakeClock
) -> None:
    (before,) = json.loads(receiver.received[0].content)["events"]
    receiver.received.clear()
    receiver.answers = [status(200)]
    goes(failed_clock, LATE, 3.8 * HOUR)
    assert heard(receiver, channel, failed_clock) == []
    goes(failed_clock, LATE, HOUR)
    assert heard(receiver, channel, failed_clock) == ["firing"]
    assert json.loads(receiver.received[0].content)["events"][0]["id"] == before["id"]


def test_the_end_of_one_that_may_have_arrived_is_sent_though_the_next_message_was_refused(
    receiver: HttpReceiver, channel: Channel, failed_clock: FakeClock
) -> None:
    receiver.answers = [status(404)]
    goes(failed_clock, LATE, 5 * HOUR)
    refuse(channel, failed_clock)
    receiver.received.clear()
    receiver.answers = [status(200)]
    failed_clock.pass_by(120)
    goes(failed_clock, FINE)
    assert heard(receiver, channel, failed_clock) == ["resolved"]


def test_the_list_of_messages_says_that_one_may_have_arrived(failed_clock: FakeClock, admin_client: Client) -> None:
    page = admin_client.get(f"/alerts/channels/{Channel.objects.get().pk}/").content.decode()
    assert "may have arrived</span>" in page


def test_the_list_of_messages_does_not_say_so_of_one_that_was_refused(clock: FakeClock, admin_client: Client) -> None:
    page = admin_client.get(f"/alerts/channels/{Channel.objects.get().pk}/").content.decode()
    assert "refused" in page
    assert "may have arrived</span>" not in page


def test_the_channel_is_shown_as_failing_until_something_arrives(
    receiver: HttpReceiver, channel: Channel, clock: FakeClock
) -> None:
    goes(clock, LATE, 3 * HOUR)
    (shown,) = failing_channels(clock.at)
    assert "404" in shown.sentence
    goes(clock, LATE, HOUR)
    assert heard(receiver, channel, clock) == ["firing"]
    assert failing_channels(clock.at + timedelta(hours=1)) == []
