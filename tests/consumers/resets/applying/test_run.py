"""The worker's call, and clusters that cannot be asked at all."""

import threading
from datetime import datetime
from typing import Any

import pytest

from consumers.jobs.hold import Hold, NotHeld, keep_alive
from consumers.models import Cluster, Reset, ResetOutcome, ResetStatus, ResetStep
from consumers.resets.applying.run import give_up_hopeless, run
from consumers.words.reasons import stored_words
from tests.consumers.resets.applying.conftest import Site, steps
from tests.fake_clock import FakeClock
from tests.world import NOW, ago


def with_every_step(site: Site) -> Reset:
    reset = site.applying(300)
    places = [("broker-a", 0), ("broker-a", 1), ("broker-b", 0), ("broker-b", 1)]
    there = [ResetStep.WRITTEN, ResetStep.WRITING, ResetStep.UNANSWERED, ResetStep.PLANNED]
    for (broker, queue_id), step in zip(places, there, strict=True):
        reset.queues_of_it.filter(broker=broker, queue_id=queue_id).update(step=step, before=500)
    return reset


def ended(reset: Reset, clock: FakeClock) -> list[str]:
    run(reset.pk, clock, clock.pause)
    reset.refresh_from_db()
    return steps(reset)


def test_without_access_what_may_have_been_moved_is_not_known(site: Site, clock: FakeClock) -> None:
    Cluster.objects.update(access_key="ann", sealed_secret="not what it was")
    reset = with_every_step(site)
    assert ended(reset, clock) == [ResetOutcome.UNKNOWN] * 3 + [ResetStep.NOT_DONE]
    assert reset.status == ResetStatus.PARTIAL
    assert str(stored_words(reset.error)) in str(
        stored_words(reset.queues_of_it.filter(outcome=ResetOutcome.UNKNOWN)[0].evidence)
    )


def test_of_a_cluster_that_is_registered_no_more_nothing_is_done(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    Cluster.objects.update(name="another")
    assert ended(reset, clock) == [ResetStep.NOT_DONE] * 4
    assert (reset.status, stored_words(reset.error)) == (
        ResetStatus.FAILED,
        "The cluster prod is no longer registered.",
    )


def test_one_that_another_worker_has_is_left_to_it(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    Cluster.objects.update(name="another")
    Hold.take(Reset, reset.pk, ResetStatus.APPLYING, clock())
    assert ended(reset, clock) == [ResetStep.PLANNED] * 4
    assert reset.status == ResetStatus.APPLYING


@pytest.mark.parametrize(
    ("started", "working", "is_hopeless"),
    [
        (3601, 31, True),
        (3601, 299, True),
        (3599, 31, False),
        (3601, 29, False),
        (3601, 301, False),
        (3601, None, False),
    ],
)
def test_one_that_every_worker_dies_of_ends_after_an_hour(
    site: Site, started: int, working: int | None, is_hopeless: bool
) -> None:
    reset = site.applying(300, started_at=ago(started), working_at=None if working is None else ago(working))
    assert give_up_hopeless(NOW) == is_hopeless
    reset.refresh_from_db()
    assert (reset.status == ResetStatus.FAILED) == is_hopeless


def test_a_worker_that_waits_for_long_shows_that_it_lives(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    hold = Hold.take(Reset, reset.pk, ResetStatus.APPLYING, clock())
    began, beaten = clock.at, threading.Event()

    def read() -> datetime:
        if clock.readings > 5:
            beaten.set()
        return clock()

    assert keep_alive(hold, read, lambda: beaten.wait(80), beat_seconds=0.01) is True
    reset.refresh_from_db()
    assert reset.working_at > began


def test_a_worker_that_lost_its_hold_waits_no_longer(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    hold = Hold.take(Reset, reset.pk, ResetStatus.APPLYING, clock())
    Reset.objects.update(working_at=clock())
    over = threading.Event()

    def read() -> datetime:
        over.set()
        return clock()

    def ask() -> Any:
        return over.wait(80)

    with pytest.raises(NotHeld):
        keep_alive(hold, read, ask, beat_seconds=0.01)
