"""What one message that is not taken holds up, and when a channel is left alone as a whole."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.alerts.channels.deliver import deliver
from consumers.alerts.channels.queue import channels_due, comes_again
from consumers.models import Channel, ConsumerGroup, Delivery
from consumers.words.reasons import stored_words
from dashboard.demo.children import free_ports
from tests.alert_rows import a_rule, an_incident, an_incident_event
from tests.channel_rows import a_message, a_webhook
from tests.fake_clock import FakeClock
from tests.http_receiver import HttpReceiver, http_receiver, status
from tests.world import NOW, a_cluster, a_group, ago

pytestmark = pytest.mark.django_db
DOWN = "http://127.0.0.1:1/hook"


@pytest.fixture
def group() -> ConsumerGroup:
    return a_group(a_cluster())


def strangers(channel: Channel, group: ConsumerGroup, count: int) -> list[Delivery]:
    """Each tells of another incident."""
    return [a_message(channel, an_incident_event(an_incident(a_rule(f"Rule {n}"), group))) for n in range(count)]


def turn(channel: Channel, clock: FakeClock) -> None:
    """A worker comes by, and it is as late as it may come again."""
    clock.at = deliver(channel.pk, clock, clock.pause) or clock.at


def taken(channel: Channel) -> list[int]:
    """Numbers of messages, as they were taken."""
    return list(channel.deliveries.filter(status="sent").order_by("sent_at").values_list("number", flat=True))


def tried(receiver: HttpReceiver) -> list[str]:
    return [one.headers["Consumerscope-Delivery"] for one in receiver.received]


def test_a_message_that_is_refused_holds_up_no_stranger(receiver: HttpReceiver, group: ConsumerGroup) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    receiver.answers = [status(500), status(200)]
    first, *_ = strangers(channel, group, 4)
    turn(channel, clock)
    assert taken(channel) == [2, 3, 4]
    turn(channel, clock)
    assert (taken(channel), clock.at - NOW < timedelta(seconds=8)) == ([2, 3, 4, 1], True)
    first.refresh_from_db()
    assert (first.refusals, first.attempts) == (1, 2)


def test_one_that_takes_too_long_holds_up_no_stranger(
    receiver: HttpReceiver, group: ConsumerGroup, settings: Any
) -> None:
    settings.ALERT_DELIVERY_SECONDS = 0.2
    channel, clock = a_webhook(receiver.url), FakeClock()
    receiver.answers = [receiver.never_answers, status(200)]
    strangers(channel, group, 2)
    turn(channel, clock)
    assert taken(channel) == [2]


def test_many_that_are_refused_leave_a_stranger_waiting_for_a_minute_at_most(
    receiver: HttpReceiver, group: ConsumerGroup
) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    receiver.answers = [status(500)]
    refused = {str(one.pk) for one in strangers(channel, group, 12)}
    for _ in range(30):
        turn(channel, clock)
    came = clock.at
    stranger = a_message(channel, an_incident_event(an_incident(a_rule("Other"), group)), at=came)
    receiver.answers = [lambda of: status(500 if of.headers["Consumerscope-Delivery"] in refused else 200)(of)]
    while stranger.status != "sent":
        turn(channel, clock)
        stranger.refresh_from_db()
    assert clock.at - came <= timedelta(seconds=75)


def test_where_nobody_listens_one_message_is_tried_at_a_time(group: ConsumerGroup) -> None:
    channel, clock = a_webhook(DOWN), FakeClock()
    strangers(channel, group, 20)
    moments = []
    for _ in range(6):
        turn(channel, clock)
        moments.append((clock.at - NOW).total_seconds())
    pauses = [after - before for before, after in zip([0, *moments], moments, strict=False)]
    assert [5 * 2**n <= pause <= 6.5 * 2**n for n, pause in enumerate(pauses[:4])] == [True] * 4
    assert all(60 <= pause <= 75.1 for pause in pauses[4:])
    assert list(channel.deliveries.order_by("number").values_list("attempts", "refusals")) == [(6, 0)] + [(0, 0)] * 19


def test_when_somebody_listens_again_all_goes_in_order(group: ConsumerGroup) -> None:
    port = free_ports(0)
    channel, clock = a_webhook(f"http://127.0.0.1:{port}"), FakeClock()
    strangers(channel, group, 6)
    for _ in range(3):
        turn(channel, clock)
    with http_receiver(port):
        turn(channel, clock)
    assert taken(channel) == [1, 2, 3, 4, 5, 6]
    channel.refresh_from_db()
    assert (channel.failures, channel.failing_since, channel.failing_why, channel.held_until) == (0, None, None, None)


def test_a_receiver_that_refused_everything_and_is_back_gets_all_in_order(
    receiver: HttpReceiver, group: ConsumerGroup
) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    strangers(channel, group, 8)
    receiver.answers = [*[status(500)] * 5, status(200)]
    for _ in range(3):
        turn(channel, clock)
    assert taken(channel) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_a_receiver_that_asks_for_time_is_left_alone_with_all_messages(
    receiver: HttpReceiver, group: ConsumerGroup
) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    receiver.answers = [status(200), status(429, Retry_After="120"), status(200)]
    strangers(channel, group, 4)
    again = deliver(channel.pk, clock, clock.pause)
    assert (len(receiver.received), channels_due(clock.at), taken(channel)) == (2, [], [1])
    assert again is not None
    assert again - NOW >= timedelta(seconds=120)
    clock.at = again
    turn(channel, clock)
    assert taken(channel) == [1, 2, 3, 4]


def test_one_message_that_is_asked_time_for_again_and_again_lets_others_pass(
    receiver: HttpReceiver, group: ConsumerGroup
) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    first, _ = strangers(channel, group, 2)
    asked = str(first.pk)
    receiver.answers = [lambda of: status(429 if of.headers["Consumerscope-Delivery"] == asked else 200)(of)]
    for _ in range(4):
        turn(channel, clock)
    assert taken(channel) == [2]


def test_it_is_told_since_when_and_why_a_channel_cannot_deliver(group: ConsumerGroup) -> None:
    channel, clock = a_webhook(DOWN), FakeClock()
    strangers(channel, group, 1)
    for _ in range(3):
        turn(channel, clock)
    channel.refresh_from_db()
    assert channel.failing_since is not None
    assert (channel.failures, channel.failing_since - NOW < timedelta(seconds=1)) == (3, True)
    assert "Connection refused" in (channel.failing_why or "")
    assert channel.held_until == comes_again(channel.pk, clock.at - timedelta(seconds=1))


def test_a_test_goes_through_a_channel_that_is_left_alone_and_frees_it(
    receiver: HttpReceiver, group: ConsumerGroup
) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    receiver.answers = [status(429, Retry_After="3000"), status(200)]
    first, second = strangers(channel, group, 2)
    turn(channel, FakeClock())
    test = a_message(channel, an_incident_event(an_incident(a_rule("Test"), group)))
    Delivery.objects.filter(pk=test.pk).update(is_test=True)
    assert channels_due(clock.at) == [channel.pk]
    turn(channel, clock)
    assert tried(receiver)[:2] == [str(first.pk), str(test.pk)]
    assert str(second.pk) in tried(receiver)


def test_what_waited_for_a_day_for_a_receiver_that_is_not_there_is_given_up(
    group: ConsumerGroup, settings: Any
) -> None:
    settings.ALERT_DELIVERY_HOURS = 24
    channel, clock = a_webhook(DOWN), FakeClock()
    strangers(channel, group, 3)
    channel.deliveries.filter(number__lt=3).update(created_at=ago(86401))
    turn(channel, clock)
    told = list(channel.deliveries.order_by("number").values_list("status", "attempts"))
    assert told == [("failed", 1), ("failed", 0), ("waiting", 0)]
    second = channel.deliveries.get(number=2)
    assert "Not delivered within 24 h" in str(stored_words(second.error))
    assert second.next_try_at is None


@pytest.mark.parametrize("seconds", [3700, 86400])
def test_a_clock_that_ran_ahead_and_was_set_right_keeps_nothing_waiting(
    receiver: HttpReceiver, group: ConsumerGroup, seconds: int
) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    strangers(channel, group, 2)
    ahead = ago(-seconds)
    Channel.objects.update(failures=3, failing_since=ahead, failing_why="x", held_until=ahead)
    channel.deliveries.update(refusals=1, next_try_at=ahead)
    assert channels_due(clock.at) == [channel.pk]
    turn(channel, clock)
    assert taken(channel) == [1, 2]
