"""Tests that somebody asks for."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from consumers.alerts.channels.deliver import deliver
from consumers.alerts.channels.queue import channels_due
from consumers.alerts.edits import send_test
from consumers.models import Channel
from consumers.words.reasons import stored_words
from tests.alert_rows import a_rule, an_incident, an_incident_event
from tests.channel_rows import a_message, a_real_channel, a_webhook
from tests.fake_clock import FakeClock
from tests.http_receiver import HttpReceiver, status
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db
ANN = User(username="ann")


def test_it_says_that_it_is_a_test_and_who_asked(receiver: HttpReceiver) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock()
    test = send_test(channel, ANN, NOW)
    assert (test.status, test.is_test, test.number, test.payload["is_test"]) == ("waiting", True, 1, True)
    assert "ann asked for it" in test.payload["events"][0]["sentence"]
    assert channels_due(NOW) == [channel.pk]
    deliver(channel.pk, clock, clock.pause)
    test.refresh_from_db()
    assert (test.status, stored_words(test.tries.get().answer)) == ("sent", "200 OK: ok")


def test_it_goes_before_what_waits_and_is_tried_once(receiver: HttpReceiver) -> None:
    receiver.answers = [status(500)]
    channel, clock = a_webhook(receiver.url), FakeClock()
    event = an_incident_event(an_incident(a_rule(), a_group(a_cluster())))
    waiting = a_message(channel, event)
    test = send_test(channel, ANN, NOW)
    deliver(channel.pk, clock, clock.pause)
    assert [one.headers["Consumerscope-Delivery"] for one in receiver.received] == [str(test.pk), str(waiting.pk)]
    test.refresh_from_db()
    assert (test.status, test.attempts) == ("failed", 1)


def test_it_goes_through_a_channel_that_is_switched_off(receiver: HttpReceiver) -> None:
    channel, clock = a_webhook(receiver.url, enabled=False), FakeClock()
    send_test(channel, ANN, NOW)
    deliver(channel.pk, clock, clock.pause)
    assert len(receiver.received) == 1


def test_one_that_no_worker_took_up_in_time_is_dropped(receiver: HttpReceiver) -> None:
    channel, clock = a_webhook(receiver.url), FakeClock(NOW + timedelta(minutes=11))
    test = send_test(channel, ANN, NOW)
    assert deliver(channel.pk, clock, clock.pause) is None
    test.refresh_from_db()
    assert (test.status, receiver.received) == ("dropped", [])
    assert "No worker started the test" in str(stored_words(test.error))


def test_alertmanager_forgets_a_test_by_itself(receiver: HttpReceiver) -> None:
    channel = a_real_channel("am", kind="alertmanager", url=receiver.url)
    clock = FakeClock()
    send_test(channel, ANN, NOW)
    assert deliver(channel.pk, clock, clock.pause) is None
    assert (NOW + timedelta(minutes=1)).isoformat()[:19].encode() in receiver.received[0].content
    assert Channel.objects.get().repeated_at is not None
