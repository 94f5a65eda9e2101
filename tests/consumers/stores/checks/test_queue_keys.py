"""Queues of one table found in another."""

import pyarrow as pa
from hypothesis import given, settings, strategies as st

from consumers.stores.checks import QueueKeys
from consumers.stores.files.stored_file import ROWS
from tests.consumers.stores.stored_samples import a_row

NAMES = st.sampled_from(["a", "b", "c", None])
ROW = st.builds(a_row, NAMES, NAMES, st.sampled_from([-1, 0, 1, 2**31 - 1, None]), st.integers(0, 5) | st.none())
TABLES = st.lists(ROW, max_size=12)


def key(row):
    return row["group"], row["topic"], row["queue_id"]


@settings(deadline=None)
@given(rows=TABLES, other=TABLES)
def test_it_finds_what_a_plain_search_finds(rows, other):
    def searched(row):
        found = [one["offset"] for one in other if key(one) == key(row) and one["offset"] is not None]
        return min(found) if found and None not in key(row) else None

    tables = (pa.Table.from_pylist(part, ROWS) for part in (rows, other))
    wanted, held = tables
    found = QueueKeys.of(wanted).look_up(held)
    values = zip(found.values.tolist(), found.known.tolist(), strict=True)
    assert [value if known else None for value, known in values] == [searched(row) for row in rows]


def test_nothing_is_found_in_no_table():
    rows = pa.Table.from_pylist([a_row("g", "T", 0, 7)], ROWS)
    assert QueueKeys.of(rows).look_up(None).known.tolist() == [False]
