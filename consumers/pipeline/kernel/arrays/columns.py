"""Columns of queues as numpy: numbers as floats with NaN for null, booleans with null for no, texts as Arrow.

Offsets and microseconds are below 2^53, so floats hold them exactly; every comparison with NaN is no.
"""

from collections.abc import Collection, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


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
