"""Writes windows and knots: the file of one window or minute, or its part of the file of the whole hour.

Rows of a file are put in order by the places of their values, which few of many rows have to be compared for.
"""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .encoded import encoded, indices
from .reader import TIME_COLUMN, folder_files, steadily
from .schemas import TABLES
from .store import COMPACTED, Lake, file_name, hour_folder, rows_in_group, rows_in_part_group


def put_window(lake: Lake, table: str, cluster: str, start: datetime, rows: pa.Table) -> None:
    """Writes the window's file; where its hour is one file already, the window is replaced inside it."""
    folder, schema = hour_folder(table, cluster, start), TABLES[table]
    fresh = rows.select(schema.names)
    hour = steadily(lake, lambda: folder_files(lake, folder), lambda names: _whole_hour(lake, names, schema))
    if hour is None:
        part = _stored(table, fresh)
        lake.write(part, f"{folder}/{file_name(start)}", schema, rows_in_part_group(part.num_rows))
        return
    at = pa.scalar(start, pa.timestamp("us", tz="UTC"))
    # Knots are a set: what is there already stays.
    kept = hour if table == "knots" else hour.filter(pc.not_equal(hour[TIME_COLUMN[table]], at))
    whole = _stored(table, pa.concat_tables([kept, fresh.cast(schema)]))
    lake.write(whole, f"{folder}/{COMPACTED}", schema, rows_in_group(whole.num_rows))


def _whole_hour(lake: Lake, names: Sequence[str], schema: pa.Schema) -> pa.Table | None:
    """None where the hour is not one file."""
    if not names or not names[0].endswith(f"/{COMPACTED}"):
        return None
    return pq.read_table(names[0], filesystem=lake.filesystem, schema=schema)


# What is asked for stands together: by group, or by topic where there is none.
STORED_BY = ("group", "topic", "broker", "queue_id", "start", "at")


def _stored(table: str, rows: pa.Table) -> pa.Table:
    """Returns the rows in the order of a file. Two groups of a topic saw the same knots: one of each is retained."""
    ordered = in_order(rows, [name for name in STORED_BY if name in rows.column_names])
    return without_doubles(ordered) if table == "knots" else ordered


# Above it the places of one more column would not fit into 64 bits.
MOST = 2**62


def in_order(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """The rows by these columns, nulls last. Rows that are in order already are returned as they are."""
    places = _places(rows, names)
    if len(places) == 1 and bool((places[0][1:] >= places[0][:-1]).all()):
        return rows
    order = np.argsort(places[0], kind="stable") if len(places) == 1 else np.lexsort(places[::-1])
    return rows.take(pa.array(order))


def without_doubles(rows: pa.Table) -> pa.Table:
    """Of equal rows that follow one another the first."""
    if rows.num_rows < 2:
        return rows
    differs = np.zeros(rows.num_rows - 1, bool)
    for place in _places(rows, rows.column_names):
        differs |= place[1:] != place[:-1]
    return rows if differs.all() else rows.filter(pa.array(np.append(True, differs)))


def _places(rows: pa.Table, names: Sequence[str]) -> list[np.ndarray]:
    """Numbers that stand in the order of the columns' values, the most significant first: one array where all columns
    fit into it."""
    found: list[np.ndarray] = []
    size = MOST
    for name in names:
        place, count = _place(rows[name])
        if size * count >= MOST:
            found.append(place)
            size = count
        else:
            found[-1] = found[-1] * count + place
            size *= count
    return found


def _place(column: pa.ChunkedArray) -> tuple[np.ndarray, int]:
    """Returns each row's rank among the column's sorted values, null last, and the number of ranks."""
    whole = encoded(column)
    count = len(whole.dictionary)
    places = np.empty(count + 1, np.int64)
    places[np.asarray(pc.sort_indices(whole.dictionary))] = np.arange(count)
    places[-1] = count  # null
    return places[indices(whole)], count + 1
