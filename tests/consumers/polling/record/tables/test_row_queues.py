"""Rows and the queues they are about."""

import pyarrow as pa
from hypothesis import given, strategies as st

from consumers.polling.record.keyed_rows import RowQueues, numbers_at

NAMES = st.sampled_from(["a", "b", "c"])
KEYS = st.lists(st.tuples(NAMES, NAMES, NAMES, st.integers(0, 3)), max_size=8)


def table(keys):
    columns = list(zip(*keys, strict=True)) or [(), (), (), ()]
    texts = {name: pa.array(columns[at], pa.string()) for at, name in enumerate(("group", "topic", "broker"))}
    return pa.table({**texts, "queue_id": pa.array(columns[3], pa.int32())})


@given(KEYS)
def test_every_row_has_the_primary_key_of_its_queue(keys):
    known = {key: 100 + place for place, key in enumerate({key[1:] for key in keys})}
    queues = RowQueues.of(table(keys))
    assert sorted(queues.keys) == sorted(known)
    assert queues.keyed(known).tolist() == [known[key[1:]] for key in keys]


@given(KEYS, st.dictionaries(st.tuples(NAMES, st.sampled_from(["a", "z"]), NAMES, st.integers(0, 5)), st.integers(0)))
def test_a_number_stands_in_the_row_of_its_group_and_queue_and_nowhere_else(keys, numbers):
    small = {key: number % 2**62 for key, number in numbers.items()}
    assert numbers_at(table(keys), small).to_pylist() == [small.get(key) for key in keys]
