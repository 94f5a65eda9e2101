"""Rows of a file stand in the order that pyarrow's own sort gives them."""

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from consumers.lake import windows
from consumers.lake.windows import in_order, without_doubles

NAMES = ["topic", "queue_id"]
SCHEMA = pa.schema([("topic", pa.string()), ("queue_id", pa.int32()), ("offset", pa.int64())])


def table(*rows):
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


texts = st.one_of(st.none(), st.text(alphabet="aZ%é", max_size=3))
rows = st.lists(st.tuples(texts, st.one_of(st.none(), st.integers(-3, 3)), st.integers(0, 3)), max_size=30)


@given(rows)
def test_it_is_that_of_a_stable_sort(found):
    numbered = table(*((topic, queue, place) for place, (topic, queue, _) in enumerate(found)))
    assert in_order(numbered, NAMES).equals(numbered.sort_by([(name, "ascending") for name in (*NAMES, "offset")]))


@given(rows)
def test_it_is_the_same_for_texts_that_are_encoded_in_pieces(found):
    half = len(found) // 2
    parts = [table(*part) for part in (found[:half], found[half:])]
    encoded = pa.concat_tables(part.set_column(0, "topic", part["topic"].dictionary_encode()) for part in parts)
    assert in_order(encoded, NAMES).to_pylist() == in_order(pa.concat_tables(parts), NAMES).to_pylist()


def test_it_is_the_same_where_the_columns_do_not_fit_into_one_number(monkeypatch):
    found = table(("b", 1, 0), ("a", 2, 1), ("b", 0, 2), ("a", 1, 3))
    monkeypatch.setattr(windows, "MOST", 4)
    assert in_order(found, NAMES)["offset"].to_pylist() == [3, 1, 2, 0]


def test_rows_in_order_are_the_same_table():
    found = table(("a", 1, 0), ("a", 2, 1), ("b", 0, 2))
    assert in_order(found, NAMES) is found


@pytest.mark.parametrize(
    ("found", "left"),
    [
        ([], []),
        ([("a", 1, 0)], [("a", 1, 0)]),
        ([("a", 1, 0), ("a", 1, 0), ("a", 1, 1)], [("a", 1, 0), ("a", 1, 1)]),
        ([("a", None, 0), ("a", None, 0)], [("a", None, 0)]),
        ([("a", 1, 0), ("a", None, 0)], [("a", 1, 0), ("a", None, 0)]),
    ],
)
def test_of_equal_rows_beside_each_other_one_is_left(found, left):
    assert without_doubles(table(*found)).equals(table(*left))
