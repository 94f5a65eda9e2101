"""The newest offsets of every queue as columns in memory, and the rows that differ from what is stored.

Only changed rows are written. The columns are taken into memory after they were written, so that a crash in between
makes the next reading write them again.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from django.db import transaction

from consumers.models import Cluster, QueueSnapshot, QueueState

OFFSETS = ("consumer_offset", "broker_offset", "min_offset", "pull_offset")
NULL = np.iinfo(np.int64).min
BATCH = 5000


@dataclass(frozen=True)
class Columns:
    """One row per group and queue, sorted by `keys` (group id << 32 | queue id). Unknown numbers are NULL."""

    keys: np.ndarray  # int64
    offsets: np.ndarray  # int64, one column per name in OFFSETS
    reasons: np.ndarray  # object: text or None
    brokers: np.ndarray  # object: broker name
    kinds: np.ndarray  # object

    @property
    def groups(self) -> np.ndarray:
        return self.keys >> 32

    @property
    def queues(self) -> np.ndarray:
        return self.keys & 0xFFFFFFFF

    def take(self, chosen: np.ndarray) -> "Columns":
        return Columns(*(column[chosen] for column in self._all()))

    def joined(self, other: "Columns") -> "Columns":
        columns = [np.concatenate([mine, theirs]) for mine, theirs in zip(self._all(), other._all(), strict=True)]
        order = np.argsort(columns[0], kind="stable")
        return Columns(*(column[order] for column in columns))

    def with_reason(self, chosen: np.ndarray, reason: str) -> "Columns":
        reasons = self.reasons.copy()
        reasons[chosen] = reason
        return replace(self, reasons=reasons)

    def _all(self) -> tuple[np.ndarray, ...]:
        return self.keys, self.offsets, self.reasons, self.brokers, self.kinds


def no_columns() -> Columns:
    empty = np.empty(0, dtype=object)
    return Columns(np.empty(0, np.int64), np.empty((0, len(OFFSETS)), np.int64), empty, empty, empty)


def stored_columns(cluster: Cluster, kind_of: Callable[[str, str], str]) -> Columns:
    """What the database holds of a cluster; `kind_of(group, topic)` is a topic's kind as the group sees it."""
    rows = list(
        QueueSnapshot.objects.filter(group__cluster=cluster).values_list(
            "group_id", "queue_id", *OFFSETS, "unknown_reason", "queue__broker", "group__name", "queue__topic__name"
        )
    )
    if not rows:
        return no_columns()
    keys = np.array([row[0] << 32 | row[1] for row in rows], np.int64)
    order = np.argsort(keys)
    return Columns(
        keys,
        np.array([[NULL if value is None else value for value in row[2:6]] for row in rows], np.int64),
        np.array([row[6] for row in rows], object),
        np.array([row[7] for row in rows], object),
        np.array([kind_of(row[8], row[9]) for row in rows], object),
    ).take(order)


def changed(before: Columns, after: Columns) -> np.ndarray:
    """Which rows of `after` are not in `before`, or differ from it in a number or a reason."""
    if not len(before.keys):
        return np.ones(len(after.keys), bool)
    at = np.minimum(np.searchsorted(before.keys, after.keys), len(before.keys) - 1)
    same = before.keys[at] == after.keys
    same &= (before.offsets[at] == after.offsets).all(axis=1)
    same &= before.reasons[at] == after.reasons
    return ~same


def write(rows: Columns, now: datetime) -> None:
    """Stores the rows, in short transactions."""
    for start in range(0, len(rows.keys), BATCH):
        part = rows.take(np.arange(start, min(start + BATCH, len(rows.keys))))
        offsets = [[None if value == NULL else value for value in row] for row in part.offsets.tolist()]
        snapshots = [
            QueueSnapshot(
                group_id=group,
                queue_id=queue,
                unknown_reason=reason,
                changed_at=now,
                **dict(zip(OFFSETS, values, strict=True)),
            )
            for group, queue, reason, values in zip(
                part.groups.tolist(), part.queues.tolist(), part.reasons.tolist(), offsets, strict=True
            )
        ]
        with transaction.atomic():
            QueueSnapshot.objects.bulk_create(
                snapshots,
                update_conflicts=True,
                unique_fields=["group", "queue"],
                update_fields=[*OFFSETS, "unknown_reason", "changed_at"],
            )


def forget(rows: Columns) -> None:
    """Removes rows whose group no longer has the queue, with what was judged of them."""
    for group in np.unique(rows.groups).tolist():
        queues = rows.queues[rows.groups == group].tolist()
        with transaction.atomic():
            QueueSnapshot.objects.filter(group_id=group, queue_id__in=queues).delete()
            QueueState.objects.filter(group_id=group, queue_id__in=queues).delete()
