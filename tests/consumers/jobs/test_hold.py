"""Which worker a running job belongs to."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.jobs.hold import Hold, NotHeld, left_behind
from consumers.models import Channel, ConsumerGroup, Resend, ResendStatus
from tests.alert_rows import a_channel
from tests.consumers.dead_letters.resend.conftest import a_resend
from tests.world import NOW, a_cluster, a_group, ago


@pytest.fixture
def group(db: None) -> ConsumerGroup:
    return a_group(a_cluster())


def running(group: ConsumerGroup) -> Resend:
    return a_resend(group, status=ResendStatus.RUNNING)


def test_one_that_nobody_has_is_taken_once(group: ConsumerGroup) -> None:
    resend = running(group)
    Hold.take(Resend, resend.pk, ResendStatus.RUNNING, NOW)
    with pytest.raises(NotHeld):
        Hold.take(Resend, resend.pk, ResendStatus.RUNNING, NOW)


def test_one_whose_worker_was_not_seen_for_half_a_minute_is_taken_over(group: ConsumerGroup) -> None:
    resend = running(group)
    first = Hold.take(Resend, resend.pk, ResendStatus.RUNNING, ago(31))
    second = Hold.take(Resend, resend.pk, ResendStatus.RUNNING, NOW)
    with pytest.raises(NotHeld, match="taken over"):
        first.renew(ago(-1))
    second.renew(ago(-2))


def test_one_whose_worker_was_seen_lately_is_left_to_it(group: ConsumerGroup) -> None:
    resend = running(group)
    Hold.take(Resend, resend.pk, ResendStatus.RUNNING, ago(60)).renew(ago(29))
    with pytest.raises(NotHeld):
        Hold.take(Resend, resend.pk, ResendStatus.RUNNING, NOW)


@pytest.mark.parametrize("status", [status for status in ResendStatus if status != ResendStatus.RUNNING])
def test_one_that_does_not_run_is_not_taken(group: ConsumerGroup, status: ResendStatus) -> None:
    with pytest.raises(NotHeld):
        Hold.take(Resend, a_resend(group, status=status).pk, ResendStatus.RUNNING, NOW)


@pytest.mark.parametrize(("age", "renewed"), [(9, False), (11, True)])
def test_it_is_renewed_before_it_is_old(group: ConsumerGroup, age: float, renewed: bool) -> None:
    hold = Hold.take(Resend, running(group).pk, ResendStatus.RUNNING, ago(age))
    hold.renew_if_old(NOW)
    assert (hold.at == NOW) is renewed


def test_one_that_was_left_is_taken_at_once(group: ConsumerGroup) -> None:
    resend = running(group)
    Hold.take(Resend, resend.pk, ResendStatus.RUNNING, NOW).leave()
    assert Hold.take(Resend, resend.pk, ResendStatus.RUNNING, NOW).at == NOW


def test_one_that_was_taken_over_is_not_left_by_its_first_worker(group: ConsumerGroup) -> None:
    resend = running(group)
    first = Hold.take(Resend, resend.pk, ResendStatus.RUNNING, ago(31))
    Hold.take(Resend, resend.pk, ResendStatus.RUNNING, NOW)
    first.leave()
    resend.refresh_from_db()
    assert resend.working_at == NOW


def test_one_without_a_status_is_held_as_well(db: None) -> None:
    channel = a_channel()
    Hold.take(Channel, channel.pk, None, NOW)
    with pytest.raises(NotHeld):
        Hold.take(Channel, channel.pk, None, NOW)


def test_one_whose_steps_take_longer_is_left_to_its_worker_for_longer(db: None) -> None:
    channel = a_channel()
    Hold.take(Channel, channel.pk, None, ago(60))
    with pytest.raises(NotHeld):
        Hold.take(Channel, channel.pk, None, NOW, stale=timedelta(seconds=90))


@pytest.mark.parametrize(("deadline", "seconds"), [(0.1, 30), (5, 30), (20, 75), (60, 195)])
def test_a_worker_in_the_middle_of_its_calls_does_not_pass_for_dead(
    group: ConsumerGroup, settings: Any, deadline: float, seconds: float
) -> None:
    settings.POLL_CALL_DEADLINE_SECONDS = deadline
    resend = running(group)
    # Its mark was nearly old when it began to wait, as long as it may.
    Hold.take(Resend, resend.pk, ResendStatus.RUNNING, ago(10 + 3 * deadline))
    assert left_behind(Resend, ResendStatus.RUNNING, NOW) == []
    with pytest.raises(NotHeld):
        Hold.take(Resend, resend.pk, ResendStatus.RUNNING, NOW)
    Resend.objects.update(working_at=ago(seconds + 1))
    assert left_behind(Resend, ResendStatus.RUNNING, NOW) == [resend.pk]
    Hold.take(Resend, resend.pk, ResendStatus.RUNNING, NOW)
