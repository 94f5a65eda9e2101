"""Which min offsets a reading asks for, and what is remembered of the answers."""

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from consumers.polling.brokers.broker_turn import plan, with_min_offsets
from consumers.polling.brokers.remembered import MinOffsets
from consumers.polling.memory import Cadence
from tests.readings import T0, at

CADENCE = Cadence(config_seconds=60, min_offset_seconds=60, min_offset_calls=10)
IDLE, LAGGING, DEAD = ("Idle", 0), ("Lagging", 0), ("%DLQ%g", 0)
ROWS = pa.table({"topic": ["Idle", "Lagging"], "queue_id": [0, 0], "consumer_offset": [5, 1], "broker_offset": [5, 5]})
ALL = [IDLE, LAGGING, DEAD]


def table(queues):
    return pa.table(
        {
            "topic": pa.array([topic for topic, _ in queues], pa.string()),
            "queue_id": pa.array([queue_id for _, queue_id in queues], pa.int32()),
        }
    )


def note(memory, queue, value, now):
    (place,) = [place for place in range(len(memory.keys)) if memory.names([place]) == [queue]]
    memory.note([place], [value], now)


def asked_at(times, queues=ALL):
    memory = MinOffsets()
    memory.settle(table(queues))
    for queue, time in times.items():
        note(memory, queue, 1, time)
    return memory


def planned(memory, now, cadence=CADENCE):
    return memory.names(plan(memory, ROWS, cadence, now))


def test_what_was_never_asked_is_asked_lagging_and_dead_letters_first():
    asked = planned(asked_at({}), T0)
    assert set(asked[:2]) == {LAGGING, DEAD}
    assert asked[2:] == [IDLE]


def test_a_lagging_queue_is_asked_again_after_the_interval():
    memory = asked_at(dict.fromkeys(ALL, T0))
    assert planned(memory, at(59)) == []
    assert set(planned(memory, at(60))) == {LAGGING, DEAD}


def test_an_idle_queue_is_asked_ten_times_more_seldom():
    memory = asked_at({IDLE: T0, LAGGING: at(590), DEAD: at(590)})
    assert planned(memory, at(599)) == []
    assert planned(memory, at(600)) == [IDLE]


def test_the_budget_holds_and_the_longest_unasked_comes_first():
    memory = asked_at({LAGGING: T0, DEAD: at(10), IDLE: T0})
    assert planned(memory, at(100), Cadence(60, 60, min_offset_calls=1)) == [LAGGING]


def test_a_lagging_queue_comes_before_an_idle_one_that_was_not_asked_for_longer():
    memory = asked_at({LAGGING: at(500), DEAD: at(590), IDLE: T0})
    assert planned(memory, at(600), Cadence(60, 60, min_offset_calls=1)) == [LAGGING]


def test_a_broker_without_queues_is_asked_for_nothing():
    assert planned(asked_at({}, queues=[]), T0) == []


def test_a_min_offset_that_was_never_read_is_null():
    memory = asked_at({})
    note(memory, LAGGING, 0, T0)
    assert with_min_offsets(ROWS, memory)["min_offset"].to_pylist() == [None, 0]


@pytest.mark.parametrize("row", [("Unheard", 0), ("Lagging", 1)], ids=["topic", "queue"])
def test_a_queue_that_the_broker_does_not_have_has_no_min_offset(row):
    memory = asked_at(dict.fromkeys(ALL, T0))
    assert memory.of(table([row])).to_pylist() == [None]


def test_a_queue_that_is_gone_is_forgotten():
    memory = asked_at(dict.fromkeys(ALL, T0))
    memory.settle(table([LAGGING]))
    memory.settle(table(ALL))
    assert memory.of(table([IDLE, LAGGING])).to_pylist() == [None, 1]


QUEUES = st.lists(st.tuples(st.sampled_from(["A", "B", "%DLQ%A"]), st.integers(0, 2)), unique=True, max_size=9)


@given(st.lists(st.tuples(QUEUES, st.integers(0, 99)), max_size=5))
def test_whatever_comes_and_goes_it_remembers_what_a_dictionary_would(steps):
    memory, expected = MinOffsets(), {}
    for number, (queues, value) in enumerate(steps):
        memory.settle(table(queues))
        expected = {queue: expected.get(queue) for queue in queues}
        if queues:
            note(memory, queues[0], value, at(number))
            expected[queues[0]] = value
        assert dict(zip(queues, memory.of(table(queues)).to_pylist(), strict=True)) == expected


@pytest.mark.parametrize(("end", "expected"), [(7, None), (8, 8), (90, 8)])
def test_a_min_offset_beyond_the_end_of_its_queue_is_from_before_the_topic_was_created_anew(end, expected):
    memory = asked_at({IDLE: T0})
    note(memory, IDLE, 8, T0)
    ends = table([IDLE]).append_column("broker_offset", pa.array([end]))
    memory.doubt(ends)
    assert with_min_offsets(table([IDLE]), memory)["min_offset"].to_pylist() == [expected]
    assert (IDLE in planned(memory, at(1))) is (expected is None)


@pytest.mark.parametrize(
    ("ends", "expected", "why"),
    [
        ([90, 50], None, "the end went back, though not behind the min offset"),
        ([90, None, 50], None, "its broker was asked for other topics in between"),
        ([90, 90], 8, "the end stands"),
        ([90, 95], 8, "the end went on"),
    ],
)
def test_a_min_offset_of_a_queue_whose_end_went_back_is_from_before_the_topic_was_created_anew(ends, expected, why):
    memory = asked_at({IDLE: T0})
    note(memory, IDLE, 8, T0)
    for end in ends:
        queues = [IDLE] if end is not None else []
        memory.doubt(table(queues).append_column("broker_offset", pa.array([end] * len(queues), pa.int64())))
    assert with_min_offsets(table([IDLE]), memory)["min_offset"].to_pylist() == [expected], why
    assert (IDLE in planned(memory, at(1))) is (expected is None)


def test_a_topic_that_comes_and_goes_is_no_end_that_went_back():
    """Its queues are settled anew each time."""
    memory = asked_at({IDLE: T0, LAGGING: T0})
    ends = {IDLE: 5, LAGGING: 90}
    for queues in ([LAGGING], [IDLE, LAGGING], [IDLE], [LAGGING, IDLE]):
        memory.settle(table(queues))
        for queue in queues:
            note(memory, queue, 1, T0)
        memory.doubt(table(queues).append_column("broker_offset", pa.array([ends[queue] for queue in queues])))
    assert memory.of(table(ALL[:2])).to_pylist() == [1, 1]
