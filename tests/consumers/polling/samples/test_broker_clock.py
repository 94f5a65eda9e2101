"""What store times prove of a broker's clock, and what becomes of time lags that it was trusted for."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from consumers.polling.samples.first_stored import plan_first
from consumers.polling.samples.planner import distrust, note_future
from consumers.polling.samples.reading import (
    Arrivals,
    BrokerClock,
    ClockBounds,
    FirstStored,
    SampleMemory,
    bounds_of,
    plan_clocks,
    read_clocks,
)
from consumers.rocketmq.messages.stored import stored_messages
from tests.consumers.polling.peer import ask, found, stored
from tests.readings import T0, at, broker, row

KEY = ("billing", "Orders", "broker-a", 0)


def ms(seconds):
    return round(at(seconds).timestamp() * 1000)


def messages(*seconds):
    return [next(stored_messages(stored(n, ms(second)))) for n, second in enumerate(seconds)]


@pytest.mark.parametrize(
    ("stored_at", "low", "high"),
    [
        ([10], -5, 11),
        ([1, 14], -1, 2),
        ([31], 16, 32),
        ([-20], -35, -19),
        ([], -math.inf, math.inf),
    ],
)
def test_messages_that_came_between_two_moments_bound_the_difference(stored_at, low, high):
    """Between 0 s and 15 s of this host's clock; a second is allowed for the way into the queue."""
    bounds = bounds_of(messages(*stored_at), at(0), at(15))
    assert (bounds.low, bounds.high) == (pytest.approx(low), pytest.approx(high))


@given(st.floats(-100, 100), st.lists(st.floats(0.01, 14.99), min_size=1, max_size=5))
def test_the_true_difference_lies_within_the_bounds(ahead, came):
    bounds = bounds_of(messages(*(moment + ahead for moment in came)), at(0), at(15))
    assert bounds.low - 0.002 <= ahead <= bounds.high + 0.002


@pytest.mark.parametrize(
    ("bounds", "sentence"),
    [
        (ClockBounds(), None),
        (ClockBounds(-20, 20), None),
        (ClockBounds(1.0, 20), None),
        (ClockBounds(-20, -1.0), None),
        (ClockBounds(1.1, 20), "the broker's clock is at least 1.1 s ahead of this host's"),
        (ClockBounds(-20, -4.0), "the broker's clock is at least 4.0 s behind this host's"),
    ],
)
def test_only_what_is_proven_is_said(bounds, sentence):
    assert bounds.wrong_by(1.0) == sentence


def test_bounds_of_several_readings_hold_at_once():
    clock = BrokerClock()
    clock.note(at(0), ClockBounds(-5, 3))
    clock.note(at(60), ClockBounds(-1, 9))
    assert clock.bounds == ClockBounds(-1, 3)


def test_where_they_contradict_each_other_the_newest_counts():
    clock = BrokerClock()
    clock.note(at(0), ClockBounds(-1, 1))
    clock.note(at(60), ClockBounds(29, 31))
    assert clock.bounds == ClockBounds(29, 31)


def test_old_bounds_are_forgotten():
    clock = BrokerClock()
    clock.note(at(0), ClockBounds(-1, 1))
    clock.note(at(600), ClockBounds(-9, 9))
    assert clock.bounds == ClockBounds(-9, 9)


def planned(clocks, end, seconds, **fields):
    part = broker("broker-a", row("billing", "Orders", 0, 4, end))
    return plan_clocks(clocks, [part], at(seconds))


def test_the_first_and_the_last_message_since_the_reading_before_are_looked_at():
    clocks = {}
    assert planned(clocks, 10, 0) == {}
    assert planned(clocks, 10, 15) == {}
    assert planned(clocks, 14, 30) == {"broker-a": Arrivals("Orders", 0, 10, 13, at(15))}


def test_a_clock_is_looked_at_once_a_minute():
    clocks = {}
    asked = [bool(planned(clocks, 10 + n, 15 * n)) for n in range(7)]
    assert asked == [False, True, False, False, False, True, False]


def test_a_slave_proves_nothing_since_it_may_be_behind():
    clocks = {}
    for seconds, end in [(0, 10), (15, 14)]:
        part = replace(broker("broker-a", row("billing", "Orders", 0, 4, end)), read_from="127.0.0.1:2")
        assert plan_clocks(clocks, [part], at(seconds)) == {}


def test_another_part_of_many_queues_is_watched_each_time():
    clocks, rows = {}, [row("billing", "Orders", queue_id, 4, 10) for queue_id in range(100)]
    plan_clocks(clocks, [broker("broker-a", *rows)], at(0))
    first = set(clocks["broker-a"].watched)
    plan_clocks(clocks, [broker("broker-a", *rows)], at(15))
    assert len(first | set(clocks["broker-a"].watched)) == 100


def read(answers, arrivals):
    clocks = {"broker-a": BrokerClock()}

    async def use(admins):
        await read_clocks(admins, clocks, {"broker-a": arrivals}, at(15), at(16), 1.0)

    _, asked = ask(answers, use)
    return clocks["broker-a"].bounds, [fields["queueOffset"] for _, fields in asked]


def pulled(request):
    offset = int(request.ext_fields["queueOffset"])
    return found(stored(offset, ms(offset)))


def test_a_clock_is_read_from_two_messages():
    bounds, asked = read({11: pulled}, Arrivals("Orders", 0, 3, 12, at(0)))
    assert asked == ["3", "12"]
    assert (bounds.low, bounds.high) == (pytest.approx(-4), pytest.approx(4))


def test_a_single_message_is_pulled_once():
    assert read({11: pulled}, Arrivals("Orders", 0, 3, 3, at(0)))[1] == ["3"]


@pytest.mark.parametrize(
    "answer", [{"code": 16}, {"code": 21, "ext_fields": {"nextBeginOffset": "9"}}, found(stored(99, ms(99)))]
)
def test_what_is_not_answered_proves_nothing(answer):
    assert read({11: answer}, Arrivals("Orders", 0, 3, 12, at(0)))[0] == ClockBounds()


def trusted(seconds=10):
    return FirstStored(4, at(seconds), None, T0)


def test_answers_of_a_wrong_clock_lose_their_time_and_keep_the_reason():
    memory = SampleMemory(first={KEY: trusted()}, clocks={"broker-a": BrokerClock()})
    assert distrust(memory, 1.0, at(15)) == {}
    memory.clocks["broker-a"].note(at(15), ClockBounds(12, 14))
    reason = "the broker's clock is at least 12.0 s ahead of this host's"
    assert distrust(memory, 1.0, at(15)) == {KEY: FirstStored(4, None, reason, at(15))} == memory.first
    assert distrust(memory, 1.0, at(30)) == {}


def test_a_broker_with_a_wrong_clock_is_asked_for_no_store_times():
    memory, part = SampleMemory(), broker("broker-a", row("billing", "Orders", 0, 4, 9))
    memory.wrong_clocks = {"broker-a": "ahead"}
    assert plan_first(memory, [part], [], 20, T0) == []


def test_a_store_time_in_the_future_proves_that_the_clock_is_ahead():
    memory = SampleMemory()
    note_future(memory, {KEY: trusted(40)}, at(15), at(16))
    assert memory.clocks["broker-a"].bounds == ClockBounds(low=24)


@pytest.mark.parametrize("answer", [trusted(15), FirstStored(4, None, "expired", T0)])
def test_a_store_time_in_the_past_proves_nothing(answer):
    memory = SampleMemory()
    note_future(memory, {KEY: answer}, at(15), at(16))
    assert memory.clocks == {}
