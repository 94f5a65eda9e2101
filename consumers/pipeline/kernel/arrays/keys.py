"""Rows that share a key, as numbers: what a join or a grouping needs, without either."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Above it one more column of the key would not fit into 64 bits.
MOST = 2**62


def key_numbers(table: pa.Table, names: Sequence[str]) -> np.ndarray:
    """The same number for rows with the same values of `names`; numbers begin at 0, in the order of first rows."""
    return _shared([table], names)[0]


def first_rows(numbers: np.ndarray) -> np.ndarray:
    """The first row of each number."""
    found = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    # Of an assignment that names a place twice the last value stays.
    found[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return found


def shared_numbers(tables: Sequence[pa.Table], names: Sequence[str]) -> list[np.ndarray]:
    """The key numbers of several tables, the same for the same key in each."""
    return _shared(tables, names)


def matches(left: pa.Table, right: pa.Table, names: Sequence[str]) -> np.ndarray:
    """For each row of `left` the row of `right` with the same key, -1 where there is none. Keys of `right` differ."""
    if not right.num_rows or not left.num_rows:
        return np.full(left.num_rows, -1, np.int64)
    mine, theirs = _shared([left, right], names)
    size = max(int(mine.max()), int(theirs.max())) + 1
    places = np.full(size, -1, np.int64)
    places[theirs] = np.arange(len(theirs))
    return places[mine]


def beside(left: pa.Table, right: pa.Table, names: Sequence[str]) -> pa.Table:
    """`left` with the other columns of `right`, null where no row of `right` has the key."""
    rows = matches(left, right, names)
    found = right.drop_columns(list(names)).combine_chunks().take(pa.array(rows, mask=rows < 0))
    for name in found.column_names:
        left = left.append_column(name, found[name])
    return left


def _shared(tables: Sequence[pa.Table], names: Sequence[str]) -> list[np.ndarray]:
    ends = np.cumsum([table.num_rows for table in tables])
    combined = np.zeros(int(ends[-1]), np.int64)
    size = 1
    for name in names:
        codes, count = _codes([table[name] for table in tables])
        if size * count > MOST:
            combined = _dense(combined)
            size = int(combined.max(initial=0)) + 1
        combined = combined * count + codes
        size *= count
    return np.split(_dense(combined), ends[:-1])


def _codes(columns: Sequence[pa.ChunkedArray]) -> tuple[np.ndarray, int]:
    """The same code for the same value in any of the columns. Texts that come as numbers are never written out: a
    million names cost more than all that is done with them."""
    first, *others = (_encoded(column) for column in columns)
    codes, values = [_indices(first)], first.dictionary
    for other in others:
        theirs = pc.cast(other.dictionary, values.type)
        known = pc.index_in(theirs, value_set=values)
        fresh = theirs.filter(pc.is_null(known))
        values = pa.concat_arrays([values, fresh])
        places = np.append(np.asarray(pc.index_in(theirs, value_set=values).fill_null(-1), np.int64), -1)
        codes.append(places[_indices(other)])
    found = np.concatenate(codes)
    # Null is a value of its own.
    return np.where(found < 0, len(values), found), len(values) + 1


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    if pa.types.is_timestamp(column.type):
        column = pc.cast(pc.cast(column, pa.timestamp("us", tz="UTC")), pa.int64())
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    chunks = column.unify_dictionaries().chunks
    return pa.concat_arrays(chunks) if chunks else pa.array([], column.type)


def _indices(column: pa.DictionaryArray) -> np.ndarray:
    return np.asarray(column.indices.fill_null(-1), np.int64)


def _dense(combined: np.ndarray) -> np.ndarray:
    return np.asarray(pa.array(combined).dictionary_encode().indices, np.int64)
