"""The newest offsets of every queue as columns in memory, and the rows that differ from the stored ones.

Only changed rows are written. Columns replace the memory after the write: after a crash in between, the next reading
writes the rows again.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from consumers.lake.encoded import encoded
from consumers.models import Cluster, QueueSnapshot, QueueState
from consumers.vocabulary.times import from_microseconds, microseconds

from .keyed_rows import BATCH, delete, upsert


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


OFFSETS = ("consumer_offset", "broker_offset", "min_offset", "pull_offset")
# Columns remembered of a lost offset; its time in microseconds since 1970.
LOST = ("lost_offset", "lost_at")
# When the first unconsumed message was stored, as far as two readings tell: waiting.py.
FIRST_STORED = ("first_stored_us", "first_stored_error_us")
NUMBERS = (*OFFSETS, *LOST, *FIRST_STORED)
NULL = np.iinfo(np.int64).min
PIECE = 50_000


@dataclass(frozen=True)
class Columns:
    """One row per group and queue, sorted by `keys` (group id << 32 | queue id). Unknown numbers are NULL."""

    keys: np.ndarray  # int64
    offsets: np.ndarray  # int64, one column per name in NUMBERS
    reasons: Coded  # why the lag is not known, or null
    brokers: Coded
    kinds: Coded

    @property
    def groups(self) -> np.ndarray:
        return self.keys >> 32

    @property
    def queues(self) -> np.ndarray:
        return self.keys & 0xFFFFFFFF

    def find(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The place of each of the sorted `keys`, and whether the key exists. Usually the keys have not changed."""
        if np.array_equal(keys, self.keys):
            return np.arange(len(keys)), np.ones(len(keys), bool)
        if not len(self.keys):
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), bool)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return at, self.keys[at] == keys

    def has(self, keys: np.ndarray) -> np.ndarray:
        return self.find(keys)[1]

    def take(self, chosen: np.ndarray) -> "Columns":
        return Columns(
            self.keys[chosen],
            self.offsets[chosen],
            self.reasons.take(chosen),
            self.brokers.take(chosen),
            self.kinds.take(chosen),
        )

    def joined(self, other: "Columns") -> "Columns":
        if not len(other.keys):
            return self
        both = Columns(
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.offsets, other.offsets]),
            self.reasons.joined(other.reasons),
            self.brokers.joined(other.brokers),
            self.kinds.joined(other.kinds),
        )
        return both.take(np.argsort(both.keys, kind="stable"))

    def with_reason(self, chosen: np.ndarray, reason: str) -> "Columns":
        return replace(self, reasons=self.reasons.with_text(chosen, reason))


def no_columns() -> Columns:
    empty = Coded.of([])
    return Columns(np.empty(0, np.int64), np.empty((0, len(NUMBERS)), np.int64), empty, empty, empty)


def stored_columns(cluster: Cluster, kind_of: Callable[[str, str], str]) -> Columns:
    """The stored columns of a cluster; `kind_of(group, topic)` is a topic's kind for the group."""
    rows = QueueSnapshot.objects.filter(group__cluster=cluster).values_list(
        "group_id", "queue_id", *NUMBERS, "unknown_reason", "queue__broker", "group__name", "queue__topic__name"
    )
    columns, found = no_columns(), rows.iterator(chunk_size=BATCH)
    # Read in batches: a million rows as Python objects would take a gigabyte.
    while piece := list(islice(found, PIECE)):
        columns = columns.joined(_columns_of(piece, kind_of))
    return columns


def _columns_of(rows: Sequence[tuple[Any, ...]], kind_of: Callable[[str, str], str]) -> Columns:
    texts = 2 + len(NUMBERS)
    columns = Columns(
        np.array([row[0] << 32 | row[1] for row in rows], np.int64),
        np.array([[NULL if value is None else _number(value) for value in row[2:texts]] for row in rows], np.int64),
        Coded.of(row[texts] for row in rows),
        Coded.of(row[texts + 1] for row in rows),
        Coded.of(kind_of(*row[texts + 2 :]) for row in rows),
    )
    return columns.take(np.argsort(columns.keys))


def _number(value: int | datetime) -> int:
    return microseconds(value) if isinstance(value, datetime) else value


def changed(before: Columns, after: Columns) -> np.ndarray:
    """Which rows of `after` are not in `before`, or differ from it in a number or a reason."""
    if not len(before.keys):
        return np.ones(len(after.keys), bool)
    at, same = before.find(after.keys)
    same &= (before.offsets[at] == after.offsets).all(axis=1)
    same &= before.reasons.take(at).equals(after.reasons)
    return ~same


def write(rows: Columns, now: datetime, **shared: Any) -> None:
    """Stores the rows, in short transactions. `shared`: values of other fields, the same in all rows."""
    for start in range(0, len(rows.keys), BATCH):
        part = rows.take(np.arange(start, min(start + BATCH, len(rows.keys))))
        columns: dict[str, Sequence[Any]] = {"group": part.groups.tolist(), "queue": part.queues.tolist()}
        for number, name in enumerate(NUMBERS):
            values = part.offsets[:, number].tolist()
            columns[name] = [None if value == NULL else _stored(name, value) for value in values]
        columns |= {"unknown_reason": part.reasons.to_list(), "changed_at": [now] * len(part.keys)}
        columns |= {name: [value] * len(part.keys) for name, value in shared.items()}
        upsert(QueueSnapshot, ("group", "queue"), columns)


def _stored(name: str, value: int) -> int | datetime:
    return from_microseconds(value) if name == "lost_at" else value


def forget(rows: Columns) -> None:
    """Deletes rows whose group no longer has the queue, with their evaluations."""
    keys = {"group": rows.groups.tolist(), "queue": rows.queues.tolist()}
    for model in (QueueSnapshot, QueueState):
        delete(model, keys)
