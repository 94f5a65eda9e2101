"""A worker that dies somewhere in the middle: whoever comes after it says the same, under the same id."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from consumers.alerts.channels.deliver import deliver
from consumers.models import Channel, ConsumerGroup, Delivery, DeliveryAttempt
from tests.alert_rows import a_rule, an_incident, an_incident_event
from tests.channel_rows import a_message, a_webhook
from tests.fake_clock import FakeClock, Killed
from tests.http_receiver import HttpReceiver, status
from tests.world import NOW, a_cluster, a_group

pytestmark = pytest.mark.django_db
# Taking, the turn, the look, the note, the record, the look for more, …
READINGS = range(1, 12)


@pytest.fixture
def group() -> ConsumerGroup:
    return a_group(a_cluster())


def killed(channel: Channel, clock: FakeClock) -> bool:
    try:
        deliver(channel.pk, clock, clock.pause)
    except Killed:
        # Who is gone has not left anything either.
        Channel.objects.filter(working_at=None).update(working_at=clock.at)
        return True
    return False


@pytest.mark.parametrize("kill_at", READINGS)
def test_a_worker_that_dies_anywhere_leaves_each_message_to_be_sent_under_its_id_in_order(
    receiver: HttpReceiver, group: ConsumerGroup, kill_at: int
) -> None:
    channel = a_webhook(receiver.url)
    incident = an_incident(a_rule(), group)
    first = a_message(channel, an_incident_event(incident))
    second = a_message(channel, an_incident_event(incident, "resolved"))
    assert killed(channel, FakeClock(kill_at=kill_at))
    later = FakeClock(NOW + timedelta(seconds=60))
    assert deliver(channel.pk, later, later.pause) is None
    got = [one.headers["Consumerscope-Delivery"] for one in receiver.received]
    assert list(dict.fromkeys(got)) == [str(first.pk), str(second.pk)]
    assert len(got) <= 3
    assert got == sorted(got, key=[str(first.pk), str(second.pk)].index)
    assert set(Delivery.objects.values_list("status", flat=True)) == {"sent"}


def test_a_try_whose_end_nobody_saw_is_told_as_such(receiver: HttpReceiver, group: ConsumerGroup) -> None:
    channel = a_webhook(receiver.url)
    delivery = a_message(channel, an_incident_event(an_incident(a_rule(), group)))

    def dies(handler: object) -> None:
        # The worker is dead before it reads the answer.
        clock.kill_at = clock.readings + 1
        status(200)(handler)  # type: ignore[arg-type]

    receiver.answers, clock = [dies, status(200)], FakeClock()
    assert killed(channel, clock)
    assert Delivery.objects.get().status == "sending"
    later = FakeClock(NOW + timedelta(seconds=60))
    deliver(channel.pk, later, later.pause)
    tries = list(DeliveryAttempt.objects.order_by("number").values_list("ok", "seconds"))
    assert (tries[0], tries[1][0]) == ((None, None), True)
    assert [one.headers["Consumerscope-Delivery"] for one in receiver.received] == [str(delivery.pk)] * 2


@dataclass
class OverTaken(FakeClock):
    """Right after an answer has come, another worker takes the channel over."""

    receiver: HttpReceiver | None = None

    def __call__(self) -> datetime:
        if self.receiver and self.receiver.received:
            Channel.objects.update(working_at=NOW + timedelta(seconds=40))
        return super().__call__()


def test_a_worker_that_was_taken_for_dead_writes_only_what_it_saw(receiver: HttpReceiver, group: ConsumerGroup) -> None:
    channel = a_webhook(receiver.url)
    delivery = a_message(channel, an_incident_event(an_incident(a_rule(), group)))
    clock = OverTaken(receiver=receiver)
    assert deliver(channel.pk, clock, clock.pause) is None
    delivery.refresh_from_db()
    assert (delivery.status, delivery.tries.get().ok) == ("sending", True)
    channel.refresh_from_db()
    assert channel.working_at == NOW + timedelta(seconds=40)
