"""Messages of a channel, sent to a receiver that does not always take them."""

import hashlib
import hmac
import json
from datetime import timedelta
from typing import Any

import pytest

from consumers.alerts.channels.deliver import deliver
from consumers.jobs.hold import Hold
from consumers.models import Channel, ConsumerGroup, Delivery
from consumers.words.reasons import stored_words
from tests.alert_rows import a_rule, an_incident, an_incident_event
from tests.channel_rows import SECRET, a_message, a_webhook
from tests.fake_clock import FakeClock
from tests.http_receiver import HttpReceiver, status
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db


@pytest.fixture
def group() -> ConsumerGroup:
    return a_group(a_cluster())


@pytest.fixture
def channel(receiver: HttpReceiver) -> Channel:
    return a_webhook(f"{receiver.url}/hook")


def waiting(channel: Channel, group: ConsumerGroup, name: str = "Far behind") -> Delivery:
    return a_message(channel, an_incident_event(an_incident(a_rule(name), group)))


def log(delivery: Delivery) -> tuple[str, int, list[tuple[bool | None, str]]]:
    delivery.refresh_from_db()
    tries = [(one.ok, stored_words(one.answer)) for one in delivery.tries.order_by("number")]
    return delivery.status, delivery.attempts, tries


def ids(receiver: HttpReceiver) -> list[str]:
    return [one.headers["Consumerscope-Delivery"] for one in receiver.received]


def test_a_message_that_is_taken_is_sent_once(channel: Channel, group: ConsumerGroup, receiver: HttpReceiver) -> None:
    delivery, clock = waiting(channel, group), FakeClock()
    assert deliver(channel.pk, clock, clock.pause) is None
    assert deliver(channel.pk, clock, clock.pause) is None
    assert log(delivery) == ("sent", 1, [(True, "200 OK: ok")])
    assert ids(receiver) == [str(delivery.pk)]


def test_a_receiver_can_verify_who_sent_it(channel: Channel, group: ConsumerGroup, receiver: HttpReceiver) -> None:
    delivery, clock = waiting(channel, group), FakeClock()
    deliver(channel.pk, clock, clock.pause)
    [got] = receiver.received
    signed = got.headers["Consumerscope-Timestamp"].encode() + b"." + got.content
    expected = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    assert got.headers["Consumerscope-Signature"] == f"v1={expected}"
    assert json.loads(got.content) == delivery.payload
    assert got.headers["Consumerscope-Timestamp"] == str(int(NOW.timestamp()))


def test_what_tells_of_the_same_incident_waits_until_the_first_message_is_taken(
    channel: Channel, group: ConsumerGroup, receiver: HttpReceiver
) -> None:
    receiver.answers = [status(500, "busy"), status(200)]
    incident = an_incident(a_rule(), group)
    first = a_message(channel, an_incident_event(incident))
    second = a_message(channel, an_incident_event(incident, "resolved"))
    clock = FakeClock()
    again = deliver(channel.pk, clock, clock.pause)
    assert again is not None
    assert ids(receiver) == [str(first.pk)]
    assert log(second) == ("waiting", 0, [])
    clock.at = again
    assert deliver(channel.pk, clock, clock.pause) is None
    assert ids(receiver) == [str(first.pk), str(first.pk), str(second.pk)]
    assert log(first)[2] == [(False, "500 Internal Server Error: busy"), (True, "200 OK")]


def test_nothing_is_tried_before_its_pause_is_over(
    channel: Channel, group: ConsumerGroup, receiver: HttpReceiver
) -> None:
    receiver.answers = [status(503)]
    delivery, clock = waiting(channel, group), FakeClock()
    again = deliver(channel.pk, clock, clock.pause)
    assert deliver(channel.pk, clock, clock.pause) == again
    assert log(delivery)[1] == 1


def test_a_receiver_that_asks_for_time_gets_it(channel: Channel, group: ConsumerGroup, receiver: HttpReceiver) -> None:
    receiver.answers = [status(429, Retry_After="120")]
    waiting(channel, group)
    clock = FakeClock()
    again = deliver(channel.pk, clock, clock.pause)
    assert again is not None
    assert again - NOW >= timedelta(seconds=120)


@pytest.mark.parametrize("code", [400, 401, 404, 410, 413])
def test_what_can_never_be_taken_is_given_up_after_three_tries(
    channel: Channel, group: ConsumerGroup, receiver: HttpReceiver, code: int
) -> None:
    receiver.answers = [status(code)]
    first, clock = waiting(channel, group), FakeClock()
    for _ in range(3):
        clock.at = deliver(channel.pk, clock, clock.pause) or clock.at
    assert log(first)[:2] == ("failed", 3)


@pytest.mark.parametrize("code", [301, 408, 425, 429, 500, 503])
def test_what_may_be_taken_another_time_is_tried_on(
    channel: Channel, group: ConsumerGroup, receiver: HttpReceiver, code: int
) -> None:
    receiver.answers = [status(code)]
    first, clock = waiting(channel, group), FakeClock()
    for _ in range(4):
        clock.at = deliver(channel.pk, clock, clock.pause) or clock.at
    assert log(first)[:2] == ("waiting", 4)


def test_after_a_day_a_message_is_given_up(
    channel: Channel, group: ConsumerGroup, receiver: HttpReceiver, settings: Any
) -> None:
    settings.ALERT_DELIVERY_HOURS = 1
    receiver.answers = [status(500)]
    delivery, clock = waiting(channel, group), FakeClock()
    again = deliver(channel.pk, clock, clock.pause)
    while again is not None:
        clock.at = again
        again = deliver(channel.pk, clock, clock.pause)
    told, attempts, _ = log(delivery)
    assert (told, delivery.next_try_at, stored_words(delivery.error)) == ("failed", None, "500 Internal Server Error")
    assert timedelta(hours=1) <= clock.at - NOW < timedelta(hours=1, minutes=2)
    assert attempts < 70


def test_two_workers_never_send_through_one_channel_at_once(
    channel: Channel, group: ConsumerGroup, receiver: HttpReceiver
) -> None:
    delivery, clock = waiting(channel, group), FakeClock()
    Hold.take(Channel, channel.pk, None, NOW)
    assert deliver(channel.pk, clock, clock.pause) is None
    assert (receiver.received, log(delivery)[1]) == ([], 0)


def test_a_channel_that_is_switched_off_drops_what_waits(
    channel: Channel, group: ConsumerGroup, receiver: HttpReceiver
) -> None:
    delivery, clock = waiting(channel, group), FakeClock()
    Channel.objects.update(enabled=False)
    assert deliver(channel.pk, clock, clock.pause) is None
    assert (log(delivery)[0], receiver.received) == ("dropped", [])
    assert "disabled" in str(stored_words(delivery.error))


def test_one_that_was_removed_has_nothing_to_do() -> None:
    clock = FakeClock()
    assert deliver(12345, clock, clock.pause) is None
