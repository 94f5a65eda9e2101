"""Nobody is told of the end of what nobody was told of: a firing that was given up, and the resolution behind it."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from consumers.alerts.channels.deliver import deliver
from consumers.models import AlertRule, Channel, Delivery
from consumers.words.reasons import stored_words
from tests.alert_rounds import a_round
from tests.alert_rows import a_rule
from tests.channel_rows import a_webhook
from tests.fake_clock import FakeClock
from tests.http_receiver import Answer, HttpReceiver, closes_half_way, http_receiver, status

pytestmark = pytest.mark.django_db
LATE, FINE = 620.0, 12.0


@pytest.fixture
def rule() -> AlertRule:
    return a_rule(for_seconds=0, clear_seconds=0)


@pytest.fixture(autouse=True)
def an_hour(settings: Any) -> None:
    settings.ALERT_DELIVERY_HOURS = 1


def heard(receiver: HttpReceiver, since: int = 0) -> list[list[tuple[str, str]]]:
    """Kind and group of each change, request by request."""
    payloads = [json.loads(one.content) for one in receiver.received[since:]]
    return [[(event["kind"], event["incident"]["subject"]["group"]) for event in one["events"]] for one in payloads]


def goes(clock: FakeClock, values: dict[str, float | None]) -> None:
    clock.pass_by(15)
    a_round(clock.at, values, *AlertRule.objects.all())


def sends_until(clock: FakeClock, is_over: Callable[[], bool]) -> None:
    """The worker comes back whenever it said that it would."""
    while not is_over():
        for channel in Channel.objects.all():
            clock.at = max(clock.at, deliver(channel.pk, clock, clock.pause) or clock.at)


def given_up() -> bool:
    return Delivery.objects.filter(number=1, status="failed").exists()


@pytest.mark.parametrize("code", [301, 401, 404])
def test_the_end_of_a_firing_that_was_refused_is_not_sent(receiver: HttpReceiver, rule: AlertRule, code: int) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    receiver.answers = [status(code)]
    goes(clock, {"billing": LATE})
    sends_until(clock, given_up)
    tried = len(receiver.received)
    receiver.answers = [status(200)]
    for _ in range(2):
        clock.pass_by(120)
        goes(clock, {"billing": FINE})
        deliver(channel.pk, clock, clock.pause)
    assert heard(receiver, tried) == []


def test_the_end_that_waits_behind_a_firing_is_dropped_with_it(receiver: HttpReceiver, rule: AlertRule) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    receiver.answers = [status(404)]
    goes(clock, {"billing": LATE})
    goes(clock, {"billing": FINE})
    sends_until(clock, given_up)
    tried = len(receiver.received)
    receiver.answers = [status(200)]
    for _ in range(3):
        goes(clock, {"billing": FINE})
        deliver(channel.pk, clock, clock.pause)
    assert heard(receiver, tried) == []
    end = Delivery.objects.get(number=2)
    assert (end.status, stored_words(end.error)) == ("dropped", "Nobody was notified of what resolved.")
    assert Delivery.objects.count() == 2


def test_of_a_message_only_the_end_of_what_was_given_up_is_left_out(receiver: HttpReceiver, rule: AlertRule) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    goes(clock, {"audit": LATE})
    deliver(channel.pk, clock, clock.pause)
    receiver.answers = [status(404)]
    goes(clock, {"audit": LATE, "billing": LATE})
    goes(clock, {"audit": FINE, "billing": FINE, "search": LATE})
    sends_until(clock, Delivery.objects.filter(number=2, status="failed").exists)
    tried = len(receiver.received)
    receiver.answers = [status(200)]
    deliver(channel.pk, clock, clock.pause)
    assert heard(receiver, tried) == [[("firing", "search"), ("resolved", "audit")]]
    assert json.loads(receiver.received[-1].content) == Delivery.objects.get(number=3).payload


def test_what_resolved_while_nobody_could_be_reached_is_not_told_when_the_receiver_is_back(rule: AlertRule) -> None:
    with http_receiver() as away:
        port = away.port
    channel, clock = a_webhook(f"http://127.0.0.1:{port}"), FakeClock()
    goes(clock, {"billing": LATE, "search": LATE})
    sends_until(clock, lambda: clock.at - Delivery.objects.get(number=1).created_at > timedelta(minutes=30))
    goes(clock, {"billing": FINE, "search": LATE})
    sends_until(clock, given_up)
    with http_receiver(port) as receiver:
        clock.pass_by(120)
        goes(clock, {"billing": FINE, "search": LATE})
        deliver(channel.pk, clock, clock.pause)
        assert heard(receiver) == [[("firing", "search")]]


@pytest.mark.parametrize("answer", [status(500), status(503), closes_half_way])
def test_the_end_of_a_firing_that_may_have_arrived_is_sent(
    receiver: HttpReceiver, rule: AlertRule, answer: Answer
) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    receiver.answers = [answer, status(404)]
    goes(clock, {"billing": LATE})
    sends_until(clock, given_up)
    tried = len(receiver.received)
    receiver.answers = [status(200)]
    goes(clock, {"billing": FINE})
    clock.pass_by(120)
    deliver(channel.pk, clock, clock.pause)
    assert heard(receiver, tried) == [[("resolved", "billing")]]


def test_a_firing_that_was_taken_at_a_later_try_has_its_end(receiver: HttpReceiver, rule: AlertRule) -> None:
    clock = FakeClock()
    a_webhook(receiver.url)
    receiver.answers = [status(404), status(404), status(200)]
    goes(clock, {"billing": LATE})
    goes(clock, {"billing": FINE})
    sends_until(clock, Delivery.objects.filter(number=2, status="sent").exists)
    assert heard(receiver, 2) == [[("firing", "billing")], [("resolved", "billing")]]


def test_of_two_channels_only_the_one_that_was_notified_is_told_of_the_end(
    receiver: HttpReceiver, rule: AlertRule
) -> None:
    clock = FakeClock()
    with http_receiver() as refusing:
        refusing.answers = [status(404), status(404), status(404), status(200)]
        a_webhook(refusing.url, "team")
        a_webhook(receiver.url, "pager")
        goes(clock, {"billing": LATE})
        sends_until(clock, Delivery.objects.filter(channel__name="team", status="failed").exists)
        goes(clock, {"billing": FINE})
        for channel in Channel.objects.all():
            deliver(channel.pk, clock, clock.pause)
        assert heard(receiver) == [[("firing", "billing")], [("resolved", "billing")]]
        assert heard(refusing, 3) == []


@pytest.mark.parametrize(("code", "told"), [(500, [("resolved", "billing")]), (404, None)])
def test_the_end_of_a_firing_that_was_dropped_after_a_try_is_sent_if_it_may_have_arrived(
    receiver: HttpReceiver, rule: AlertRule, code: int, told: list[tuple[str, str]] | None
) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    receiver.answers = [status(code), status(200)]
    goes(clock, {"billing": LATE})
    deliver(channel.pk, clock, clock.pause)
    for on, value in ((False, LATE), (False, FINE), (True, FINE)):
        Channel.objects.update(enabled=on)
        goes(clock, {"billing": value})
        deliver(channel.pk, clock, clock.pause)
    assert heard(receiver, 1) == ([] if told is None else [told])
