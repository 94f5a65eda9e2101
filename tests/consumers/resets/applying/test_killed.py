"""A worker that dies at any moment, and the one after it: what each queue's row says is what became of the queue."""

import itertools
from collections.abc import Callable
from datetime import datetime

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from consumers.models import Reset, ResetMethod, ResetOutcome, ResetQueue, ResetStatus, ResetStep
from consumers.resets.applying.run import work
from consumers.resets.request import resumable
from consumers.words.reasons import stored_words
from tests.consumers.resets.applying.conftest import Site, steps
from tests.consumers.resets.applying.fake_offsets import Act
from tests.fake_clock import FakeClock, Killed
from tests.world import NOW

# A reset of four queues reads the clock less often than this before it is read back.
MOST_READINGS = 42


def run_to_the_end(site: Site, reset: Reset, clock: FakeClock, kill_at: list[int]) -> int:
    """The workers that it took. Each starts once the one before it must be dead."""
    for worker, reading in enumerate([*kill_at, None], start=1):
        clock.readings, clock.kill_at = 0, reading
        try:
            site.work(reset, clock)
        except Killed:
            clock.kill_at = None
            clock.pass_by(31)
        else:
            return worker
    raise AssertionError("the last worker is not killed")


def check(site: Site, reset: Reset) -> None:
    """No row says that its queue is at its target, or where it was, unless it is there."""
    for row in reset.queues_of_it.all():
        stands = site.brokers[row.broker].offsets[row.queue_id]
        if row.outcome == ResetOutcome.CONFIRMED:
            assert stands == row.target
        elif row.outcome != ResetOutcome.UNKNOWN:
            assert stands == row.now_offset


@pytest.mark.parametrize(
    ("kill_at", "target"), [(at, 700 if at % 4 == 1 else 300) for at in range(1, MOST_READINGS, 2)]
)
def test_wherever_a_worker_is_killed_no_queue_is_moved_twice_and_only_the_one_in_doubt_is_unknown(
    site: Site, clock: FakeClock, kill_at: int, target: int
) -> None:
    reset = site.applying(target)
    run_to_the_end(site, reset, clock, [kill_at])
    assert sorted(steps(reset), reverse=True)[1:] == ["CONFIRMED"] * 3
    assert len({(one.name, *write) for one in site.brokers.values() for write in one.writes}) == site.writes()
    check(site, reset)


DOUBT = "Nothing was read for a while: a member may have joined, consumed and left meanwhile."


# By the step that its row is left with: the reading of the clock at which the worker dies after the broker answered.
DIES_AT = {ResetStep.WRITING: 10, ResetStep.WRITTEN: 12}


def after_a_short_lived_consumer(site: Site, clock: FakeClock, step: ResetStep, offset: int) -> ResetQueue:
    """The first queue, set back to 300. Once the worker is dead a consumer joins, commits `offset` there and leaves."""
    reset = site.applying(300)
    reset.queues_of_it.exclude(broker="broker-a", queue_id=0).delete()
    clock.kill_at = DIES_AT[step]
    with pytest.raises(Killed):
        site.work(reset, clock)
    assert (site.writes(), reset.queues_of_it.get().step) == (1, step)
    clock.kill_at = None
    clock.pass_by(31)
    site.brokers["broker-a"].offsets[0] = offset
    site.work(reset, clock)
    return reset.queues_of_it.get()


@pytest.mark.parametrize("step", DIES_AT)
def test_a_queue_that_a_consumer_may_have_consumed_again_and_left_is_unknown_and_not_written_twice(
    site: Site, clock: FakeClock, step: ResetStep
) -> None:
    row = after_a_short_lived_consumer(site, clock, step, offset=500)
    assert (row.outcome, site.writes()) == (ResetOutcome.UNKNOWN, 1)
    assert str(stored_words(row.evidence)).endswith(DOUBT)
    assert not resumable(row.reset).exists()


def test_a_queue_that_was_never_read_at_its_target_is_not_confirmed_by_an_offset_behind_it(
    site: Site, clock: FakeClock
) -> None:
    """Its broker may have restarted, and have lost the target to an older offset."""
    row = after_a_short_lived_consumer(site, clock, ResetStep.WRITTEN, offset=400)
    assert (row.outcome, site.writes()) == (ResetOutcome.UNKNOWN, 1)


ACTS = st.lists(st.sampled_from(list(Act)), max_size=4)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=ACTS, kills=st.lists(st.integers(1, MOST_READINGS), max_size=3), target=st.sampled_from([300, 700]))
def test_with_any_broker_and_any_kills_the_record_is_true(
    site: Site, acts: list[Act], kills: list[int], target: int
) -> None:
    clock = FakeClock()
    Reset.objects.update(status=ResetStatus.FAILED)
    for broker in site.brokers.values():
        broker.offsets, broker.acts = {0: 500, 1: 501}, []
    site.brokers["broker-a"].acts = list(acts)
    reset = site.applying(target)
    run_to_the_end(site, reset, clock, kills)
    check(site, reset)
    assert not reset.queues_of_it.filter(step__in=(ResetStep.WRITING, ResetStep.PLANNED)).exists()
    assert reset.status in (ResetStatus.APPLIED, ResetStatus.PARTIAL, ResetStatus.FAILED)


def test_one_that_a_worker_was_writing_when_it_died_and_that_members_share_is_not_written_twice(
    site: Site, clock: FakeClock
) -> None:
    """They may have gone back and consumed it all again: it stands where it stood either way."""
    for broker in site.brokers.values():
        broker.members = ("c1",)
    reset = site.applying(300)
    reset.queues_of_it.filter(broker="broker-a", queue_id=0).update(
        step=ResetStep.WRITING, before=500, before_at=clock()
    )
    site.work(reset, clock)
    assert [queue_id for _, queue_id, _ in site.brokers["broker-a"].writes] == [1]
    assert reset.queues_of_it.get(broker="broker-a", queue_id=0).outcome != ResetOutcome.CONFIRMED


def with_a_sleep(
    clock: FakeClock, is_time: Callable[[], bool], meanwhile: Callable[[], None]
) -> Callable[[], datetime]:
    slept: list[bool] = []

    def read() -> datetime:
        if is_time() and not slept:
            slept.append(True)
            meanwhile()
        return clock()

    return read


def test_a_second_worker_leaves_a_living_one_alone(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    readings = itertools.count()
    read = with_a_sleep(clock, lambda: next(readings) == 12, lambda: work(reset.pk, site.ports, clock, clock.pause))
    work(reset.pk, site.ports, read, clock.pause)
    assert site.writes() == 4


@pytest.mark.parametrize("writes", [0, 1, 2, 3])
def test_a_worker_that_was_taken_for_dead_tells_no_broker_anything_more(
    site: Site, clock: FakeClock, writes: int
) -> None:
    """It sleeps for a minute in the middle of the work, and another one does it meanwhile."""
    reset = site.applying(300)
    before: list[int] = []

    def another() -> None:
        clock.pass_by(61)
        work(reset.pk, site.ports, clock, clock.pause)
        before.append(site.writes())

    def is_time() -> bool:
        writing = reset.queues_of_it.filter(step=ResetStep.WRITING).exists()
        return site.writes() == writes and (writing or not writes)

    work(reset.pk, site.ports, with_a_sleep(clock, is_time, another), clock.pause)
    assert before == [site.writes()] == [4]
    assert steps(reset) == ["CONFIRMED"] * 4


def test_once_something_is_written_a_queue_that_stood_at_its_target_may_move_on(site: Site, clock: FakeClock) -> None:
    """The worker died while it read back: nothing is left that could be stopped."""
    reset = site.applying(300)
    standing = reset.queues_of_it.filter(queue_id=1)
    standing.update(method=ResetMethod.NOTHING, target=501)
    reset.queues_of_it.filter(queue_id=0).update(
        step=ResetStep.WRITTEN, before=500, before_at=NOW, answered=300, written_at=NOW
    )
    for broker in site.brokers.values():
        broker.offsets, broker.end = {0: 300, 1: 90_000}, 100_000
    site.work(reset, clock)
    assert (reset.moved, site.writes()) == (None, 0)
    assert not reset.queues_of_it.filter(step=ResetStep.NOT_DONE).exists()


def test_what_moved_while_nobody_worked_stops_the_rest(site: Site, clock: FakeClock) -> None:
    reset = site.applying(300)
    clock.kill_at = 14
    with pytest.raises(Killed):
        site.work(reset, clock)
    assert 0 < site.writes() < 4
    clock.kill_at = None
    clock.pass_by(31)
    site.brokers["broker-b"].permission = 4
    site.work(reset, clock)
    assert list(map(stored_words, reset.moved)) == ["The permission of broker-b changed from 6 to 4 since the plan."]
    assert (set(steps(reset)), reset.status) == ({"CONFIRMED", "not done"}, ResetStatus.PARTIAL)
    check(site, reset)
    assert [stored_words(event.sentence) for event in reset.events.all()][
        1
    ] == "Another worker took over from one that had stopped."
