"""Texts of which few differ, as numbers."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa


@dataclass(frozen=True)
class Texts:
    """`codes`: the place of each row's text in `values`, -1 for none."""

    codes: np.ndarray
    values: tuple[str, ...]

    @classmethod
    def of(cls, column: "pa.Array | pa.ChunkedArray") -> "Texts":
        if isinstance(column, pa.ChunkedArray):
            if column.null_count == len(column):
                return cls.none(len(column))
            encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
            found = encoded.unify_dictionaries().combine_chunks()
            column = pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found
        if not pa.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        return cls(np.asarray(column.indices.fill_null(-1), np.int64), tuple(column.dictionary.to_pylist()))

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
