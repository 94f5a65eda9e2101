"""The order of rows in a file: by the places of their values, which few of many rows have to be compared for."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
    """Of each row the place of its value among the column's, and how many places there are."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    chunks = encoded.unify_dictionaries().chunks
    if not chunks:
        return np.empty(0, np.int64), 1
    whole = pa.concat_arrays(chunks)
    count = len(whole.dictionary)
    places = np.empty(count + 1, np.int64)
    places[np.asarray(pc.sort_indices(whole.dictionary))] = np.arange(count)
    places[-1] = count  # null
    return places[np.asarray(whole.indices.fill_null(-1))], count + 1
