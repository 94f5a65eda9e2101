"""Rows of many queues in one flat table: each queue is a run of rows, oldest first."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

MICROSECONDS = 1_000_000
MINUTE_US = 60 * MICROSECONDS
HOUR_US = 60 * MINUTE_US


@dataclass(frozen=True)
class Segments:
    """`starts`: int64, one more than there are queues; rows starts[q] to starts[q + 1] are those of queue q."""

    starts: np.ndarray

    @classmethod
    def of_lists(cls, lists: pa.ListArray) -> "Segments":
        """A null list is an empty one."""
        lengths = np.asarray(lists.value_lengths().fill_null(0), np.int64)
        return cls.of_lengths(lengths)

    @classmethod
    def of_lengths(cls, lengths: np.ndarray) -> "Segments":
        return cls(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))

    @property
    def count(self) -> int:
        return len(self.starts) - 1

    @property
    def rows(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def queue(self) -> np.ndarray:
        """The queue of each row."""
        return np.repeat(np.arange(self.count), np.diff(self.starts))

    @cached_property
    def is_first(self) -> np.ndarray:
        """Whether a row is the first of its queue."""
        found = np.zeros(self.rows, bool)
        found[self.starts[:-1][np.diff(self.starts) > 0]] = True
        return found

    def kept(self, chosen: np.ndarray) -> "Segments":
        """The segments of the chosen rows alone."""
        return Segments.of_lengths(self.count_of(chosen))

    def count_of(self, chosen: np.ndarray) -> np.ndarray:
        """How many of the chosen rows each queue has."""
        return np.bincount(self.queue[chosen], minlength=self.count)

    def any(self, chosen: np.ndarray) -> np.ndarray:
        return self.count_of(chosen) > 0

    def first(self, chosen: np.ndarray) -> np.ndarray:
        """The row number of the first chosen row of each queue, -1 where it has none."""
        return self._ends(chosen, keep_last=False)

    def last(self, chosen: np.ndarray) -> np.ndarray:
        """The row number of the last chosen row of each queue, -1 where it has none."""
        return self._ends(chosen, keep_last=True)

    def _ends(self, chosen: np.ndarray, *, keep_last: bool) -> np.ndarray:
        rows = np.flatnonzero(chosen)
        found = np.full(self.count, -1, np.int64)
        # Of an assignment that names a place twice the last value stays.
        rows = rows if keep_last else rows[::-1]
        found[self.queue[rows]] = rows
        return found

    def max(self, values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The largest value of the chosen rows of each queue; NaN where it has none. NaN among them is passed over."""
        found = np.full(self.count, -np.inf)
        known = chosen & ~np.isnan(values)
        np.maximum.at(found, self.queue[known], values[known])
        return np.where(np.isneginf(found), np.nan, found)

    def min(self, values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        return -self.max(-values, chosen)

    def spread(self, per_queue: np.ndarray) -> np.ndarray:
        """A value of each queue at each of its rows."""
        return per_queue[self.queue]

    def before(self, values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """At each chosen row the value of the chosen row before it in its queue; NaN at the first and elsewhere."""
        found = np.full(self.rows, np.nan)
        if chosen.all():
            found[1:] = np.where(self.is_first[1:], np.nan, values[:-1])
            return found
        rows = np.flatnonzero(chosen)
        follows = self.queue[rows[1:]] == self.queue[rows[:-1]]
        found[rows[1:][follows]] = values[rows[:-1][follows]]
        return found


def at_rows(values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The values at row numbers; NaN where that is -1."""
    if not len(values):
        return np.full(len(rows), np.nan)
    return np.where(rows >= 0, values[np.maximum(rows, 0)], np.nan)


def seconds(microseconds: np.ndarray) -> np.ndarray:
    return microseconds / MICROSECONDS


@dataclass(frozen=True)
class Groups:
    """`numbers`: of each row the number of its group, `count` of them."""

    numbers: np.ndarray
    count: int

    def count_if(self, chosen: np.ndarray) -> np.ndarray:
        return np.bincount(self.numbers[chosen], minlength=self.count)

    def any(self, chosen: np.ndarray) -> np.ndarray:
        return self.count_if(chosen) > 0

    def sum(self, values: np.ndarray, chosen: np.ndarray | None = None) -> np.ndarray:
        """Of the known values of the chosen rows; NaN where there is none."""
        rows = ~np.isnan(values) if chosen is None else chosen & ~np.isnan(values)
        total = np.bincount(self.numbers[rows], weights=values[rows], minlength=self.count)
        return np.where(self.any(rows), total, np.nan)

    def whole_sum(self, values: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """NaN as soon as one of the chosen is."""
        return np.where(self.any(chosen & np.isnan(values)), np.nan, self.sum(values, chosen))

    def max(self, values: np.ndarray, chosen: np.ndarray | None = None) -> np.ndarray:
        """Of the known values of the chosen rows; NaN where there is none."""
        rows = ~np.isnan(values) if chosen is None else chosen & ~np.isnan(values)
        found = np.full(self.count, -np.inf)
        np.maximum.at(found, self.numbers[rows], values[rows])
        return np.where(np.isneginf(found), np.nan, found)

    def min(self, values: np.ndarray, chosen: np.ndarray | None = None) -> np.ndarray:
        return -self.max(-values, chosen)

    def last(self, *order: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """The chosen row of each group that is the last by `order`, most significant first; -1 where it has none."""
        rows = np.flatnonzero(chosen)
        ordered = rows[np.lexsort([values[rows] for values in reversed(order)])]
        found = np.full(self.count, -1, np.int64)
        # Of an assignment that names a place twice the last value stays.
        found[self.numbers[ordered]] = ordered
        return found
