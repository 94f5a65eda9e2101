"""Which min offsets a reading asks for."""

from datetime import timedelta

import pyarrow as pa

from consumers.polling.cadence import Cadence
from consumers.polling.memory import BrokerMemory
from consumers.polling.min_offsets import plan, with_min_offsets
from tests.readings import T0, at

CADENCE = Cadence(config_seconds=60, min_offset_seconds=60, min_offset_calls=10)
IDLE, LAGGING, DEAD = ("Idle", 0), ("Lagging", 0), ("%DLQ%g", 0)
ROWS = pa.table({"topic": ["Idle", "Lagging"], "queue_id": [0, 0], "consumer_offset": [5, 1], "broker_offset": [5, 5]})
ALL = {IDLE, LAGGING, DEAD}


def asked_at(times):
    memory = BrokerMemory("127.0.0.1:1")
    memory.min_offsets_at.update(times)
    return memory


def test_what_was_never_asked_is_asked_lagging_and_dead_letters_first():
    asked = plan(asked_at({}), ROWS, ALL, CADENCE, T0)
    assert set(asked[:2]) == {LAGGING, DEAD}
    assert asked[2:] == [IDLE]


def test_a_lagging_queue_is_asked_again_after_the_interval():
    memory = asked_at(dict.fromkeys(ALL, T0))
    assert plan(memory, ROWS, ALL, CADENCE, at(59)) == []
    assert set(plan(memory, ROWS, ALL, CADENCE, at(60))) == {LAGGING, DEAD}


def test_an_idle_queue_is_asked_ten_times_more_seldom():
    memory = asked_at({IDLE: T0, LAGGING: at(590), DEAD: at(590)})
    assert plan(memory, ROWS, ALL, CADENCE, at(599)) == []
    assert plan(memory, ROWS, ALL, CADENCE, T0 + timedelta(seconds=600)) == [IDLE]


def test_the_budget_holds_and_the_longest_unasked_comes_first():
    memory = asked_at({LAGGING: T0, DEAD: at(10), IDLE: T0})
    assert plan(memory, ROWS, ALL, Cadence(60, 60, min_offset_calls=1), at(100)) == [LAGGING]


def test_a_min_offset_that_was_never_read_is_null():
    memory = BrokerMemory("127.0.0.1:1", min_offsets={LAGGING: 3})
    assert with_min_offsets(ROWS, memory)["min_offset"].to_pylist() == [None, 3]


def test_a_queue_that_is_gone_is_forgotten():
    memory = BrokerMemory("127.0.0.1:1", min_offsets={IDLE: 1, LAGGING: 3}, min_offsets_at={IDLE: T0, LAGGING: T0})
    memory.forget_missing_queues({LAGGING})
    assert memory.min_offsets == {LAGGING: 3}
