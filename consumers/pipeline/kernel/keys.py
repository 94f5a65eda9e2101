"""Rows that share a key, as numbers: what a join or a grouping needs, without either."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Above it one more column of the key would not fit into 64 bits.
MOST = 2**62


def key_numbers(table: pa.Table, names: Sequence[str]) -> np.ndarray:
    """The same number for rows with the same values of `names`; numbers begin at 0, in the order of first rows."""
    combined = np.zeros(table.num_rows, np.int64)
    size = 1
    for name in names:
        codes, count = _codes(table[name])
        if size * count > MOST:
            combined = _dense(combined)
            size = int(combined.max(initial=0)) + 1
        combined = combined * count + codes
        size *= count
    return _dense(combined)


def first_rows(numbers: np.ndarray) -> np.ndarray:
    """The first row of each number."""
    found = np.empty(int(numbers.max(initial=-1)) + 1, np.int64)
    # Of an assignment that names a place twice the last value stays.
    found[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)
    return found


def shared_numbers(tables: Sequence[pa.Table], names: Sequence[str]) -> list[np.ndarray]:
    """The key numbers of several tables, the same for the same key in each."""
    keys = [table.select(list(names)).cast(_plain(tables[0], names)) for table in tables]
    numbers = key_numbers(pa.concat_tables(keys), names)
    ends = np.cumsum([table.num_rows for table in tables])
    return np.split(numbers, ends[:-1])


def matches(left: pa.Table, right: pa.Table, names: Sequence[str]) -> np.ndarray:
    """For each row of `left` the row of `right` with the same key, -1 where there is none. Keys of `right` differ."""
    mine, theirs = shared_numbers([left, right], names)
    size = max(int(mine.max(initial=-1)), int(theirs.max(initial=-1))) + 1
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


def _plain(table: pa.Table, names: Sequence[str]) -> pa.Schema:
    """Texts as texts: dictionaries of two tables differ."""
    kinds = (table.schema.field(name).type for name in names)
    return pa.schema(
        [
            (name, kind.value_type if pa.types.is_dictionary(kind) else kind)
            for name, kind in zip(names, kinds, strict=True)
        ]
    )


def _codes(column: pa.ChunkedArray) -> tuple[np.ndarray, int]:
    if pa.types.is_integer(column.type) and not column.null_count:
        values = column.to_numpy()
        least = int(values.min(initial=0))
        spread = int(values.max(initial=0)) - least + 1
        if spread <= max(1024, 4 * len(values)):
            return values.astype(np.int64) - least, spread
    if pa.types.is_timestamp(column.type):
        column = pc.cast(column, pa.int64())
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    whole = encoded.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    count = len(whole.dictionary)
    # Null is a value of its own.
    return np.asarray(whole.indices.fill_null(count), np.int64), count + 1


def _dense(combined: np.ndarray) -> np.ndarray:
    return np.asarray(pa.array(combined).dictionary_encode().indices, np.int64)
