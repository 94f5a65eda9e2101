"""A column of texts of a few kinds: a small number per row, and what each number stands for."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from consumers.polling.brokers.joined import encoded


@dataclass(frozen=True)
class Coded:
    """`texts` may contain null; every number in `codes` is a place in `texts`. A text may be unused."""

    codes: np.ndarray  # int32
    texts: tuple[str | None, ...]

    @classmethod
    def of(cls, values: Iterable[str | None]) -> "Coded":
        known: dict[str | None, int] = {}
        codes = [known.setdefault(value, len(known)) for value in values]
        return cls(np.array(codes, np.int32), tuple(known))

    @classmethod
    def of_arrow(cls, column: pa.ChunkedArray) -> "Coded":
        whole = encoded(column)
        texts = whole.dictionary.to_pylist()
        codes = whole.indices.fill_null(len(texts)).to_numpy().astype(np.int32)
        return cls(codes, (*texts, None))

    @classmethod
    def all(cls, text: str | None, size: int) -> "Coded":
        return cls(np.zeros(size, np.int32), (text,))

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, chosen: np.ndarray) -> "Coded":
        return Coded(self.codes[chosen], self.texts)

    def joined(self, other: "Coded") -> "Coded":
        texts = tuple(dict.fromkeys((*self.texts, *other.texts)))
        return Coded(np.concatenate([self._coded_by(texts), other._coded_by(texts)]), texts)

    def with_text(self, chosen: np.ndarray, text: str | None) -> "Coded":
        texts = self.texts if text in self.texts else (*self.texts, text)
        codes = self.codes.copy()
        codes[chosen] = texts.index(text)
        return Coded(codes, texts)

    def is_in(self, wanted: Iterable[str | None]) -> np.ndarray:
        """Which rows hold one of the texts."""
        among = set(wanted)
        return np.array([text in among for text in self.texts], bool)[self.codes] if self.texts else self._none()

    def equals(self, other: "Coded") -> np.ndarray:
        """Which rows hold the same text as the row in the same place of `other`."""
        texts = tuple(dict.fromkeys((*self.texts, *other.texts)))
        return self._coded_by(texts) == other._coded_by(texts)

    def distinct(self) -> list[str | None]:
        """The texts used by at least one row, in no order."""
        return [self.texts[code] for code in np.flatnonzero(np.bincount(self.codes)).tolist()]

    def to_list(self) -> list[str | None]:
        return [self.texts[code] for code in self.codes.tolist()]

    def _coded_by(self, texts: Sequence[str | None]) -> np.ndarray:
        if texts == self.texts:
            return self.codes
        places = {text: place for place, text in enumerate(texts)}
        return np.array([places[text] for text in self.texts], np.int32)[self.codes] if self.texts else self.codes

    def _none(self) -> np.ndarray:
        return np.zeros(len(self.codes), bool)
