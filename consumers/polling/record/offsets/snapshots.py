"""The newest offsets of every queue as columns in memory, and the rows that differ from the stored ones.

Only changed rows are written. Columns replace the memory after the write: after a crash in between, the next reading
writes the rows again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import numpy as np

from consumers.models import Cluster, QueueSnapshot, QueueState
from consumers.polling.brokers.remembered import EPOCH, microseconds
from consumers.polling.record.tables.coded import Coded
from consumers.polling.record.tables.keyed_rows import BATCH, delete, upsert

OFFSETS = ("consumer_offset", "broker_offset", "min_offset", "pull_offset")
# Columns remembered of a lost offset; its time in microseconds since 1970.
LOST = ("lost_offset", "lost_at")
NUMBERS = (*OFFSETS, *LOST)
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
    columns = Columns(
        np.array([row[0] << 32 | row[1] for row in rows], np.int64),
        np.array([[NULL if value is None else _number(value) for value in row[2:8]] for row in rows], np.int64),
        Coded.of(row[8] for row in rows),
        Coded.of(row[9] for row in rows),
        Coded.of(kind_of(row[10], row[11]) for row in rows),
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


def write(rows: Columns, now: datetime, **alike: Any) -> None:
    """Stores the rows, in short transactions. `alike`: values of other fields, the same in all rows."""
    for start in range(0, len(rows.keys), BATCH):
        part = rows.take(np.arange(start, min(start + BATCH, len(rows.keys))))
        columns: dict[str, Sequence[Any]] = {"group": part.groups.tolist(), "queue": part.queues.tolist()}
        for number, name in enumerate(NUMBERS):
            values = part.offsets[:, number].tolist()
            columns[name] = [None if value == NULL else _stored(name, value) for value in values]
        columns |= {"unknown_reason": part.reasons.to_list(), "changed_at": [now] * len(part.keys)}
        columns |= {name: [value] * len(part.keys) for name, value in alike.items()}
        upsert(QueueSnapshot, ("group", "queue"), columns)


def _stored(name: str, value: int) -> int | datetime:
    return EPOCH + timedelta(microseconds=value) if name == "lost_at" else value


def forget(rows: Columns) -> None:
    """Deletes rows whose group no longer has the queue, with their evaluations."""
    keys = {"group": rows.groups.tolist(), "queue": rows.queues.tolist()}
    for model in (QueueSnapshot, QueueState):
        delete(model, keys)
