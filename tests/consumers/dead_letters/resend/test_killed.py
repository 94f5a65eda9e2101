"""A worker that dies at any moment, and the one after it: each message arrives once, or its row says unknown."""

import contextlib
import itertools
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from consumers.dead_letters.resend.run import work
from consumers.models import Resend, ResendOutcome
from consumers.polling.registration import Wire, WireClosed
from consumers.rocketmq.wire.codes import RequestCode
from tests.consumers.dead_letters.resend.conftest import Site, an_item, outcomes
from tests.consumers.dead_letters.resend.fake_queues import NAME, Act
from tests.fake_clock import FakeClock, Killed

LETTERS = 4
# A run of four messages reads the clock less often than this.
MOST_READINGS = 40


def run_to_the_end(site: Site, resend: Resend, clock: FakeClock, kill_at: list[int]) -> int:
    """The workers that it took. Each starts once the one before it must be dead."""
    for worker, reading in enumerate([*kill_at, None], start=1):
        clock.readings, clock.kill_at = 0, reading
        try:
            work(resend.pk, site.ports, clock, clock.pause)
        except Killed:
            clock.kill_at = None
            clock.pass_by(31)
        else:
            return worker
    raise AssertionError("the last worker is not killed")


def check(site: Site, resend: Resend, topic: str) -> None:
    """No copy without its row, no row without its copy, and no message twice."""
    copies = site.broker.marks(topic)
    assert len(copies) == len(set(copies))
    for item in resend.items.all():
        mark = f"{resend.pk.hex}/{item.pk}"
        if item.outcome == ResendOutcome.SENT:
            assert copies.count(mark) == 1
        elif item.outcome != ResendOutcome.UNKNOWN:
            assert mark not in copies


@pytest.mark.parametrize("kill_at", range(1, MOST_READINGS, 3))
def test_wherever_a_worker_is_killed_each_message_arrives_once(site: Site, clock: FakeClock, kill_at: int) -> None:
    resend = site.running(site.died(LETTERS), rate=500)
    run_to_the_end(site, resend, clock, [kill_at])
    assert outcomes(resend) == [ResendOutcome.SENT] * LETTERS
    assert sorted(site.broker.keys(site.retry)) == [f"k{number}" for number in range(LETTERS)]
    check(site, resend, site.retry)


ACTS = st.lists(st.sampled_from([act for act in Act if act is not Act.DIVERT]), max_size=4)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS, kills=st.lists(st.integers(1, MOST_READINGS), max_size=3), to_group=st.booleans())
def test_with_any_broker_and_any_kills_nothing_is_lost_or_doubled_unsaid(
    site: Site, acts: list[Act], kills: list[int], to_group: bool
) -> None:
    clock = FakeClock()
    site.use_a_group_of_its_own()
    site.broker.queues.clear()
    resend = site.running(site.died(LETTERS), to_group=to_group, rate=500)
    site.broker.acts = list(acts)
    run_to_the_end(site, resend, clock, kills)
    check(site, resend, site.retry if to_group else "Orders")
    ended = {ResendOutcome.SENT, ResendOutcome.FAILED, ResendOutcome.UNKNOWN, ResendOutcome.CANCELLED}
    assert set(outcomes(resend)) <= ended
    refused = acts.count(Act.REFUSE)
    assert outcomes(resend).count(ResendOutcome.FAILED) <= refused


def test_a_second_worker_leaves_a_living_one_alone(site: Site, clock: FakeClock) -> None:
    resend = site.running(site.died(LETTERS))
    readings = itertools.count()

    def with_another() -> object:
        if next(readings) == 6:
            work(resend.pk, site.ports, clock, clock.pause)
        return clock()

    work(resend.pk, site.ports, with_another, clock.pause)  # type: ignore[arg-type]
    assert site.broker.keys(site.retry) == [f"k{number}" for number in range(LETTERS)]


def test_a_worker_that_was_taken_for_dead_sends_nothing_more(site: Site, clock: FakeClock) -> None:
    """It sleeps for a minute in the middle of a batch, and another one does the work meanwhile."""
    resend = site.running(site.died(LETTERS), rate=500)
    slept = []

    def sleepy() -> object:
        if len(site.broker.sends) == 2 and not slept:
            slept.append(True)
            clock.pass_by(61)
            work(resend.pk, site.ports, clock, clock.pause)
        return clock()

    work(resend.pk, site.ports, sleepy, clock.pause)  # type: ignore[arg-type]
    assert slept
    assert outcomes(resend) == [ResendOutcome.SENT] * LETTERS
    assert sorted(site.broker.keys(site.retry)) == [f"k{number}" for number in range(LETTERS)]


def clock_beside_another(site: Site, resend: Resend, clock: FakeClock, over: threading.Event) -> Callable[[], datetime]:
    """What the worker waits for is over after a minute, in which beat hands over what a dead worker left behind."""
    readings = itertools.count()
    another = replace(site.ports, wire=closed_wire())

    def read() -> datetime:
        number = next(readings)
        if number > 9:
            over.set()
        elif number > 3:
            clock.pass_by(10)
            with contextlib.suppress(WireClosed):
                work(resend.pk, another, clock, clock.pause)
        return clock()

    return read


def test_a_worker_that_searches_for_long_is_not_taken_for_dead(site: Site, clock: FakeClock) -> None:
    """Whoever took over would search as long, and be taken for dead as well: no message would ever be settled."""
    resend = site.running([])
    item = an_item(
        resend,
        *site.died(1),
        ResendOutcome.SENDING,
        at=clock.at,
        target_topic=site.retry,
        target_broker=NAME,
        target_queue_id=0,
        floor_offset=0,
    )
    site.broker.put(site.retry, f"KEYS\x01k0\x02consumerscope_resend\x01{resend.pk.hex}/{item.pk}\x02")
    clock.pass_by(31)
    site.broker.awaits = searched = threading.Event()
    late_clock = clock_beside_another(site, resend, clock, searched)
    work(resend.pk, replace(site.ports, deadline_seconds=5.0), late_clock, clock.pause, beat_seconds=0.01)
    assert outcomes(resend) == [ResendOutcome.SENT]


def closed_wire() -> Wire:
    wire = Wire()
    wire.close()
    return wire


@pytest.mark.parametrize("late", [RequestCode.PULL_MESSAGE, RequestCode.GET_ROUTEINFO_BY_TOPIC])
def test_a_worker_whose_brokers_answer_late_is_not_taken_for_dead(
    site: Site, clock: FakeClock, late: RequestCode
) -> None:
    """Nothing is sent yet: one worker after the other would begin anew, and be taken for dead as well."""
    resend = site.running(site.died(1))
    site.broker.awaits, site.broker.awaited = answered, late = threading.Event(), late
    late_clock = clock_beside_another(site, resend, clock, answered)
    work(resend.pk, replace(site.ports, deadline_seconds=5.0), late_clock, clock.pause, beat_seconds=0.01)
    assert (outcomes(resend), len(site.broker.sends)) == ([ResendOutcome.SENT], 1)
