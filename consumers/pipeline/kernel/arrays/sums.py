"""Sums of rows by number: null stays null, and a sum says whether all of it is known."""

from dataclasses import dataclass

import numpy as np


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
