"""Encodes text columns with few different values as numbers."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake.encoded import encoded, indices

# The columns that name a queue of a group, its topic queue and its group.

GROUP = ["cluster", "group"]
TOPIC_QUEUE = ["cluster", "topic", "broker", "queue_id"]
QUEUE = ["cluster", "group", "topic", "broker", "queue_id"]


# Columns of queues as numpy: numbers as floats with NaN for null, booleans with null for no, texts as Arrow.
#
# Offsets and microseconds are below 2^53, so floats hold them exactly; every comparison with NaN is no.


class Columns:
    """What rules look at: one row a queue."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table.combine_chunks()
        self._numbers: dict[str, np.ndarray] = {}

    @property
    def count(self) -> int:
        return self.table.num_rows

    def __getitem__(self, name: str) -> np.ndarray:
        """The numbers or booleans of a column."""
        if name not in self._numbers:
            self._numbers[name] = numbers(self.table[name])
        return self._numbers[name]

    def text(self, name: str) -> pa.ChunkedArray:
        return self.table[name]

    def is_known(self, name: str) -> np.ndarray:
        return bools(pc.is_valid(self.table[name]))

    def is_in(self, name: str, values: Collection[str]) -> np.ndarray:
        """Null is in nothing."""
        return bools(pc.is_in(self.table[name], value_set=pa.array(sorted(values), pa.string())))

    def with_columns(self, found: Mapping[str, "np.ndarray | pa.Array"]) -> "Columns":
        table = self.table
        for name, values in found.items():
            column = values if isinstance(values, pa.Array | pa.ChunkedArray) else arrow(values)
            if name in table.column_names:
                table = table.set_column(table.column_names.index(name), name, column)
            else:
                table = table.append_column(name, column)
        return Columns(table)

    def take(self, rows: np.ndarray) -> "Columns":
        return Columns(self.table.take(pa.array(rows)))


def numbers(column: "pa.ChunkedArray | pa.Array") -> np.ndarray:
    if pa.types.is_boolean(column.type):
        return bools(column)
    if pa.types.is_timestamp(column.type):
        column = pc.cast(pc.cast(column, pa.timestamp("us", tz="UTC")), pa.int64())
    return pc.fill_null(pc.cast(column, pa.float64(), safe=False), np.nan).to_numpy()


def bools(column: "pa.ChunkedArray | pa.Array") -> np.ndarray:
    return np.asarray(pc.fill_null(column, False), bool)


def arrow(values: np.ndarray) -> pa.Array:
    """NaN becomes null."""
    if values.dtype == bool:
        return pa.array(values)
    return pa.array(values, mask=np.isnan(values))


def whole(values: np.ndarray) -> pa.Array:
    """Whole numbers; NaN becomes null."""
    missing = np.isnan(values)
    return pa.array(np.where(missing, 0, values).astype(np.int64), mask=missing)


def times(microseconds: np.ndarray) -> pa.Array:
    """As UTC times; NaN becomes null."""
    return whole(microseconds).cast(pa.timestamp("us", tz="UTC"))


# Rows that share a key, as numbers: what a join or a grouping needs, without either.

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
    if left.num_rows == right.num_rows and all(left[name].equals(right[name]) for name in names):
        return np.arange(left.num_rows)
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
            combined = dense(combined)
            size = int(combined.max(initial=0)) + 1
        combined = combined * count + codes
        size *= count
    return np.split(dense(combined), ends[:-1])


def _codes(columns: Sequence[pa.ChunkedArray]) -> tuple[np.ndarray, int]:
    """The same code for the same value in any of the columns. Texts that come as numbers are never written out: a
    million names cost more than all that is done with them."""
    first, *others = (encoded(_comparable(column)) for column in columns)
    codes, values = [indices(first)], first.dictionary
    for other in others:
        theirs = pc.cast(other.dictionary, values.type)
        known = pc.index_in(theirs, value_set=values)
        fresh = theirs.filter(pc.is_null(known))
        values = pa.concat_arrays([values, fresh])
        places = np.append(np.asarray(pc.index_in(theirs, value_set=values).fill_null(-1), np.int64), -1)
        codes.append(places[indices(other)])
    found = np.concatenate(codes)
    # Null is a value of its own.
    return np.where(found < 0, len(values), found), len(values) + 1


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Returns times as microseconds, whatever their unit, and any other column as it is."""
    if pa.types.is_timestamp(column.type):
        return pc.cast(pc.cast(column, pa.timestamp("us", tz="UTC")), pa.int64())
    return column


def dense(combined: np.ndarray) -> np.ndarray:
    """The same number for the same value; numbers begin at 0, in the order of first rows. Hashing is several times as
    fast as the sort of np.unique."""
    return np.asarray(pa.array(combined).dictionary_encode().indices, np.int64)


@dataclass(frozen=True)
class Texts:
    """`codes`: the place of each row's text in `values`, -1 for none."""

    codes: np.ndarray
    values: tuple[str, ...]

    @classmethod
    def of(cls, column: "pa.Array | pa.ChunkedArray") -> "Texts":
        if column.null_count == len(column):
            return cls.none(len(column))
        whole = encoded(column)
        return cls(indices(whole), tuple(whole.dictionary.to_pylist()))

    @classmethod
    def none(cls, count: int) -> "Texts":
        return cls(np.full(count, -1, np.int64), ())

    @classmethod
    def chosen(cls, cases: "Sequence[Case]", count: int) -> "Texts":
        """Of each row the text of the first case that holds, none where none does; a case may have a text a row."""
        values: list[str] = []
        codes = np.full(count, -1, np.int64)
        is_open = np.ones(count, bool)
        for holds, text in cases:
            rows = is_open & holds
            if isinstance(text, str):
                codes[rows] = len(values)
                values.append(text)
            else:
                theirs = text.codes[rows]
                codes[rows] = np.where(theirs < 0, -1, theirs + len(values))
                values += text.values
            is_open &= ~holds
        return cls(codes, tuple(values))

    @property
    def is_known(self) -> np.ndarray:
        return self.codes >= 0

    def is_in(self, values: Collection[str]) -> np.ndarray:
        """None is in nothing."""
        chosen = [*(value in values for value in self.values), False]
        return np.array(chosen, bool)[self.codes]

    def kept(self, rows: np.ndarray) -> "Texts":
        """Of the chosen rows, or of those at row numbers."""
        return Texts(self.codes[rows], self.values)

    def at(self, rows: np.ndarray) -> "Texts":
        """At row numbers; none where that is -1."""
        if not len(self.codes):
            return Texts.none(len(rows))
        return Texts(np.where(rows >= 0, self.codes[np.maximum(rows, 0)], -1), self.values)

    def otherwise(self, text: str) -> "Texts":
        """`text` where there is none."""
        return Texts(np.where(self.codes < 0, len(self.values), self.codes), (*self.values, text))

    def least(self, numbers: np.ndarray, chosen: np.ndarray, count: int) -> "Texts":
        """Of the chosen rows of each number the first text by alphabet."""
        return self._end(numbers, chosen, count, sorted(self.values))

    def greatest(self, numbers: np.ndarray, chosen: np.ndarray, count: int) -> "Texts":
        return self._end(numbers, chosen, count, sorted(self.values, reverse=True))

    def _end(self, numbers: np.ndarray, chosen: np.ndarray, count: int, ordered: list[str]) -> "Texts":
        places = {value: place for place, value in reversed(list(enumerate(ordered)))}
        ranks = np.array([*(places[value] for value in self.values), 0], np.int64)[self.codes]
        found = np.full(count, len(ordered), np.int64)
        rows = chosen & self.is_known
        np.minimum.at(found, numbers[rows], ranks[rows])
        return Texts(np.where(found < len(ordered), found, -1), tuple(ordered))

    def ranks(self) -> np.ndarray:
        """Numbers in the order of the alphabet; none comes first."""
        order = {value: place for place, value in enumerate(sorted(self.values))}
        return np.array([*(order[value] for value in self.values), -1])[self.codes]

    def arrow(self) -> pa.Array:
        """Plain texts."""
        values = pa.array(self.values, pa.string())
        return values.take(pa.array(self.codes, mask=self.codes < 0))


# Which rows it is about, and their text or the text of each.
Case = tuple[np.ndarray, str | Texts]
