"""A firing that its receiver refused for good: who is offered it again, and when."""

import json
from datetime import timedelta
from typing import Any

import pytest

from consumers.alerts.channels.deliver import deliver
from consumers.alerts.queries.deliveries import failing_channels
from consumers.models import AlertRule, Channel, Delivery
from tests.alert_rounds import a_round
from tests.alert_rows import a_rule
from tests.channel_rows import a_webhook
from tests.fake_clock import FakeClock
from tests.http_receiver import HttpReceiver, status

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


def test_one_that_may_have_arrived_is_not_offered_again(
    receiver: HttpReceiver, channel: Channel, clock: FakeClock
) -> None:
    Delivery.objects.update(may_have_arrived=True)
    goes(clock, LATE, 4 * HOUR)
    assert heard(receiver, channel, clock) == []


def test_the_channel_is_shown_as_failing_until_something_arrives(
    receiver: HttpReceiver, channel: Channel, clock: FakeClock
) -> None:
    goes(clock, LATE, 3 * HOUR)
    (shown,) = failing_channels(clock.at)
    assert "404" in shown.sentence
    goes(clock, LATE, HOUR)
    assert heard(receiver, channel, clock) == ["firing"]
    assert failing_channels(clock.at + timedelta(hours=1)) == []
