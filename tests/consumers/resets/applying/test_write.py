"""Brokers that fall silent, and queues that move at the last moment."""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest
from django.db import connection

from consumers.jobs.hold import Hold, NotHeld
from consumers.models import Reset, ResetKind, ResetMethod, ResetStatus, ResetStep
from consumers.resets.applying.run import work
from consumers.resets.applying.write import Writing
from consumers.words.reasons import stored_words
from tests.consumers.resets.applying.conftest import Site, steps
from tests.consumers.resets.applying.fake_offsets import Act
from tests.fake_clock import FakeClock

CONFIRMED = "CONFIRMED"


def once_there_are(writes: int, site: Site, clock: FakeClock, act: Callable[[], None]) -> Callable[[], datetime]:
    """A clock that acts once, when it is read after so many writes."""
    done: list[bool] = []

    def read() -> datetime:
        if site.writes() >= writes and not done:
            done.append(True)
            act()
        return clock()

    return read


def run(site: Site, clock: FakeClock, reset: Reset, read: Callable[[], datetime]) -> None:
    work(reset.pk, site.ports, read, clock.pause)
    reset.refresh_from_db()


def six_queues(site: Site) -> None:
    for broker in site.brokers.values():
        broker.offsets = dict.fromkeys(range(6), 500)


def test_of_a_broker_that_falls_silent_the_rest_is_not_tried_and_the_others_go_on(site: Site, clock: FakeClock) -> None:
    six_queues(site)
    reset = site.applying(300)
    first, second = site.brokers.values()

    def read() -> datetime:
        """It is silent from the first write to it on, until the other broker is written to."""
        first.is_silent = bool(first.writes) and not second.writes
        return clock()

    run(site, clock, reset, read)
    # It does what it is told, and does not say so.
    assert first.offsets == {0: 300, 1: 300, 2: 300, 3: 300, 4: 500, 5: 500}
    assert steps(reset) == [CONFIRMED] * 4 + ["not done"] * 2 + [CONFIRMED] * 6
    left = reset.queues_of_it.filter(step="not done").values_list("error", flat=True).distinct()
    assert "broker-a gave no usable answer 3 times in a row" in str(stored_words(left.get()))
    assert reset.status == ResetStatus.PARTIAL


def test_a_broker_that_refuses_is_told_every_queue(site: Site, clock: FakeClock) -> None:
    six_queues(site)
    reset = site.applying(300)
    site.brokers["broker-a"].acts = [Act.REFUSE] * 6
    site.work(reset, clock)
    assert len(site.brokers["broker-a"].writes) == 6
    assert steps(reset) == ["failed"] * 6 + [CONFIRMED] * 6


@pytest.mark.parametrize(
    ("target", "stands", "words"),
    [
        (300, 499, "not written: it went back from 500 to 499"),
        (300, None, "not written: it was at 500 in the plan, and has no committed offset now"),
    ],
)
def test_a_queue_that_moves_too_far_at_the_last_moment_is_left_alone(
    site: Site, clock: FakeClock, target: int, stands: int | None, words: str
) -> None:
    reset = site.applying(target)
    moving = site.brokers["broker-b"]
    offsets = {0: 500, 1: 501} if stands is None else {0: stands, 1: 501}
    if stands is None:
        del offsets[0]
    run(site, clock, reset, once_there_are(2, site, clock, lambda: setattr(moving, "offsets", offsets)))
    assert steps(reset) == [CONFIRMED, CONFIRMED, "failed", CONFIRMED]
    assert words in str(stored_words(reset.queues_of_it.get(broker="broker-b", queue_id=0).error))
    assert moving.offsets.get(0) == stands


@pytest.mark.parametrize("stands", [600, 601])
def test_a_queue_that_reaches_its_target_by_itself_is_not_written(site: Site, clock: FakeClock, stands: int) -> None:
    reset = site.applying(600)
    moving = site.brokers["broker-b"]
    run(site, clock, reset, once_there_are(2, site, clock, lambda: moving.offsets.update({0: stands})))
    assert steps(reset) == [CONFIRMED] * 4
    there = reset.queues_of_it.get(broker="broker-b", queue_id=0)
    assert (there.method, there.before, there.written_at) == (ResetMethod.NOTHING, stands, None)
    assert [(queue, offset) for queue, offset in moving.offsets.items()] == [(0, stands), (1, 600)]
    assert reset.status == ResetStatus.APPLIED


def test_where_one_queue_of_a_call_cannot_be_moved_none_of_it_is(site: Site, clock: FakeClock) -> None:
    for broker in site.brokers.values():
        broker.server_side, broker.members = False, ("c1",)
    reset = site.applying(0, ResetMethod.CLIENT, kind=ResetKind.EARLIEST, value=None)
    moving = site.brokers["broker-b"]
    run(site, clock, reset, once_there_are(1, site, clock, lambda: moving.offsets.update({1: 400})))
    errors = reset.queues_of_it.filter(broker="broker-b").order_by("queue_id").values_list("error", flat=True)
    assert moving.writes == []
    assert list(map(stored_words, errors)) == [
        "members can only be notified of all queues at once. Another queue: not written: it went back from 501 to 400",
        "not written: it went back from 501 to 400",
    ]


def test_a_broker_without_an_address_is_not_tried(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    hold = Hold.take(Reset, reset.pk, ResetStatus.APPLYING, clock())
    rows = list(reset.queues_of_it.filter(broker="broker-a"))
    for row in rows:
        row.broker = "broker-z"
    Writing(reset, site.ports, hold, clock).write(rows)
    assert {stored_words(row.error) for row in rows} == {"not tried: the address of broker-z is unknown"}


def test_a_worker_that_slept_between_its_note_and_the_call_does_not_make_it(site: Site, clock: FakeClock) -> None:
    """Another one has found the note by then, and goes by what it finds at the broker."""
    reset = site.applying(300)

    def read() -> datetime:
        noted = reset.queues_of_it.filter(step="writing").exists()
        if noted and not connection.savepoint_ids and not site.writes() and not slept:
            slept.append(True)
            clock.pass_by(60)
            Hold.take(Reset, reset.pk, ResetStatus.APPLYING, clock())
        return clock()

    slept: list[bool] = []
    run(site, clock, reset, read)
    assert (slept, site.writes(), reset.status) == ([True], 0, ResetStatus.APPLYING)
    assert steps(reset).count("writing") == 1


def test_a_worker_that_looks_at_many_queues_before_it_writes_is_not_taken_for_dead(
    site: Site, clock: FakeClock
) -> None:
    reset, looked = site.applying(300), threading.Event()
    broker = site.brokers["broker-a"]
    hold, broker.awaits = Hold.take(Reset, reset.pk, ResetStatus.APPLYING, clock()), looked

    def read() -> datetime:
        """A minute passes, in which another worker tries to take the reset over."""
        clock.pass_by(10)
        if clock.readings > 8:
            looked.set()
        with contextlib.suppress(NotHeld):
            Hold.take(Reset, reset.pk, ResetStatus.APPLYING, clock.at)
        return clock()

    ports = replace(site.ports, deadline_seconds=5.0)
    rows = list(reset.queues_of_it.filter(broker="broker-a"))
    Writing(reset, ports, hold, read, beat_seconds=0.01).write(rows)
    assert broker.offsets == {0: 300, 1: 300}


def test_a_broker_that_is_silent_before_it_is_written_to_is_not_asked_for_each_queue(
    site: Site, clock: FakeClock
) -> None:
    """Members that are told by time are told all queues of a topic at once: each would be waited for."""
    broker = site.brokers["broker-a"]
    broker.offsets, broker.server_side = dict.fromkeys(range(40), 500), False
    reset = site.applying(0, ResetMethod.CLIENT, kind=ResetKind.EARLIEST)
    hold, broker.is_silent = Hold.take(Reset, reset.pk, ResetStatus.APPLYING, clock()), True
    rows = list(reset.queues_of_it.filter(broker="broker-a"))
    Writing(reset, site.ports, hold, clock).write(rows)
    assert (len(broker.asked), broker.writes) == (8, [])
    assert set(reset.queues_of_it.filter(broker="broker-a").values_list("step", flat=True)) == {ResetStep.FAILED}
