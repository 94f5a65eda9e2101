"""A reading's file says of its names what every file with the same names in the same order says."""

import pyarrow as pa
import pytest

from consumers.lake.schemas import NAMES, READINGS, names_note
from tests.pipeline_rows import at, rows

PLACES = [("orders", "A", 0), ("orders", "B", 1), ("billing", "A", 0)]


def reading(places=PLACES, seconds=0, **fields):
    found = [
        row | {"taken_at": at(seconds)}
        for group, topic, number in places
        for row in rows([(1, 1)], group=group, topic=topic, queue_id=number, **fields)
    ]
    return pa.Table.from_pylist(found, READINGS)


def test_offsets_and_times_are_no_names():
    later = reading(seconds=15).set_column(7, "consumer_offset", pa.array([7, 8, None], pa.int64()))
    assert names_note(later) == names_note(reading())


def test_however_its_texts_are_encoded():
    found = reading()
    backwards = found.take([2, 1, 0])
    for name in NAMES:
        if found[name].type == pa.string():
            column = backwards[name].dictionary_encode().take(pa.array([2, 1, 0]))
            found = found.set_column(found.column_names.index(name), name, column)
    assert found.to_pylist() == reading().to_pylist()
    assert names_note(found) == names_note(reading())


@pytest.mark.parametrize(
    "other",
    [
        reading(PLACES[:2]),
        reading([PLACES[1], PLACES[0], PLACES[2]]),
        reading([*PLACES[:2], ("billing", "A", 1)]),
        reading([*PLACES[:2], ("Billing", "A", 0)]),
        reading(kind="retry"),
        reading(broker=None),
    ],
    ids=["fewer", "another order", "another queue", "another name", "another kind", "no name"],
)
def test_other_names_are_told_apart(other):
    assert names_note(other) != names_note(reading())


def test_names_that_run_together_are_told_apart():
    assert names_note(reading([("ab", "c", 0)])) != names_note(reading([("a", "bc", 0)]))
