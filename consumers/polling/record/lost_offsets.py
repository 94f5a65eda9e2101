"""Lost offsets: an earlier reading had the offset, the broker has it no more, and still lists the topic and the group.

Such a queue is neither forgotten nor "never committed": it keeps its last known offset and the time of that offset. A
broker that was read from a slave lacks what the slave lacks; only its master's own lists prove a deletion.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from consumers.models import ConsumerGroup, Queue
from consumers.polling.brokers.joined import encoded
from consumers.polling.brokers.remembered import microseconds
from consumers.polling.reading import BrokerReading, OffsetsReading
from consumers.vocabulary.states import UnknownReason

from .history import ROWS, stored_keys
from .keyed_rows import EntityIds, RowQueues
from .snapshots import NULL, Columns
from .totals import GroupKinds

CONSUMER, BROKER, LOST_OFFSET, LOST_AT = 0, 1, 4, 5
# Nobody consumes a group's own dead-letter topic.
LOSABLE_KINDS = ("normal", "retry", "system")
# Reasons why an offset was of no use any more, or left the broker as expected.
NOTHING_TO_LOSE = (UnknownReason.TOPIC_GONE, UnknownReason.QUEUE_GONE, UnknownReason.NOT_REPORTED)
BATCH = 500
GivenUp = frozenset[tuple[str, str, str]]  # broker, group, topic


@dataclass(frozen=True)
class Losses:
    """What a reading lacks compared with the stored rows. `broadcasting`: ids of groups whose offsets leave with their
    members.
    """

    stored: Columns
    ids: EntityIds
    kinds: GroupKinds
    broadcasting: Collection[int]

    def marked(self, rows: pa.Table, reading: OffsetsReading) -> tuple[pa.Table, GivenUp]:
        """`rows` of the reading, with rows for lost offsets added; and the group topics where no offset is expected any
        more.
        """
        queues = RowQueues.of(rows)
        keys = stored_keys(rows, queues, self.ids)
        rows, given_up = self._never_committed(rows, keys)
        absent = self._absent(keys, reading)
        return (pa.concat_tables([rows, absent]).unify_dictionaries() if absent.num_rows else rows), given_up

    def _never_committed(self, rows: pa.Table, keys: np.ndarray) -> tuple[pa.Table, GivenUp]:
        """Queues without an offset on the broker, although an offset was read before."""
        reasons = encoded(rows["unknown_reason"])
        never = np.flatnonzero(reasons_are(reasons, UnknownReason.NEVER_COMMITTED))
        if not len(never) or not len(self.stored.keys):
            return rows, frozenset()
        at, found = self.stored.find(keys[never])
        had = found & self._had_offset[at]
        retired = np.isin(keys[never], self.kinds.retired)
        end = rows["broker_offset"].take(pa.array(never)).fill_null(NULL).to_numpy()
        before = self.stored.offsets[at, BROKER]
        created_anew = (end != NULL) & (before != NULL) & (end < before)
        broadcast = np.isin(self.stored.groups[at], list(self.broadcasting))
        texts = np.array(reasons.to_pylist(), object) if had.any() else None
        if texts is None:
            return rows, frozenset()
        texts[never[had & broadcast]] = UnknownReason.NOT_REPORTED
        texts[never[had & ~broadcast & ~created_anew & ~retired]] = UnknownReason.OFFSET_LOST
        gone = never[had & ~broadcast & retired]
        given_up = self._pairs(rows, gone)
        place = rows.schema.get_field_index("unknown_reason")
        rows = rows.set_column(place, ROWS.field("unknown_reason"), pa.array(texts, ROWS.field("unknown_reason").type))
        return (rows.filter(_all_but(gone, rows.num_rows)) if len(gone) else rows), given_up

    @property
    def _had_offset(self) -> np.ndarray:
        """Stored rows that hold an offset, or the memory of a lost offset that nobody acknowledged."""
        stored = self.stored
        had = (stored.offsets[:, CONSUMER] != NULL) | (
            (stored.offsets[:, LOST_OFFSET] != NULL) & ~stored.reasons.is_in([UnknownReason.NEVER_COMMITTED])
        )
        outside = [pk for pk, _ in self.kinds.outside]
        had &= stored.kinds.is_in(LOSABLE_KINDS) & ~stored.reasons.is_in(NOTHING_TO_LOSE)
        return had & ~np.isin(stored.groups, outside) if outside else had

    def _absent(self, keys: np.ndarray, reading: OffsetsReading) -> pa.Table:
        """Rows for queues that the reading lacks completely and that no list proves deleted."""
        stored, read = self.stored, [broker for broker in reading.brokers if broker.read]
        if np.array_equal(np.sort(keys), stored.keys):
            return ROWS.empty_table()
        remembered = self._had_offset | (
            (stored.offsets[:, LOST_OFFSET] != NULL) & stored.reasons.is_in([UnknownReason.NEVER_COMMITTED])
        )
        absent = remembered & stored.brokers.is_in([broker.name for broker in read]) & ~np.isin(stored.keys, keys)
        absent &= ~np.isin(stored.keys, self.kinds.retired) & ~np.isin(stored.groups, list(self.broadcasting))
        if not absent.any():
            return ROWS.empty_table()
        return self._rows_of(stored.take(absent), {broker.name: Listed.of(broker) for broker in read})

    def _rows_of(self, missing: Columns, lists: Mapping[str, "Listed"]) -> pa.Table:
        queues = _by_pk(Queue, missing.queues, "topic__name", "broker", "queue_id")
        groups = _by_pk(ConsumerGroup, missing.groups, "name")
        found = []
        columns = (missing.groups.tolist(), missing.queues.tolist(), missing.kinds.to_list(), missing.reasons.to_list())
        for group_id, queue_pk, kind, reason in zip(*columns, strict=True):
            (group,), (topic, broker, queue_id) = groups[group_id], queues[queue_pk]
            if lists[broker].lacks(group, topic, queue_id):
                continue
            row = dict.fromkeys(ROWS.names) | {"group": group, "topic": topic, "broker": broker, "queue_id": queue_id}
            said = reason if reason == UnknownReason.NEVER_COMMITTED else UnknownReason.OFFSET_LOST
            found.append(row | {"kind": kind, "unknown_reason": said})
        return pa.Table.from_pylist(found, ROWS)

    @staticmethod
    def _pairs(rows: pa.Table, places: np.ndarray) -> GivenUp:
        chosen = rows.select(["broker", "group", "topic"]).take(pa.array(places, pa.int64())).to_pylist()
        return frozenset((row["broker"], row["group"], row["topic"]) for row in chosen)


@dataclass(frozen=True)
class Listed:
    """What one broker's master lists. Null: the master was not asked in this reading, so no deletion is proven."""

    groups: Collection[str] | None
    read_queues: Mapping[str, int] | None

    @classmethod
    def of(cls, broker: BrokerReading) -> "Listed":
        if broker.read_from is not None or broker.topics is None or broker.groups is None:
            return cls(None, None)
        return cls({group.name for group in broker.groups}, {one.name: one.read_queues for one in broker.topics})

    def lacks(self, group: str, topic: str, queue_id: int) -> bool:
        if self.groups is None or self.read_queues is None:
            return False
        return group not in self.groups or queue_id >= self.read_queues.get(topic, 0)


def remembering(after: Columns, before: Columns, read_at: Mapping[str, datetime]) -> Columns:
    """`after`, with the last known offset of each queue that has none now, and the time of that offset.

    `read_at`: the last good reading of each broker before this one.
    """
    silent = np.flatnonzero(
        (after.offsets[:, CONSUMER] == NULL)
        & after.reasons.is_in(set(after.reasons.texts) - {UnknownReason.NOT_REPORTED})
    )
    if not len(silent) or not len(before.keys):
        return after
    at, found = before.find(after.keys[silent])
    never = after.reasons.is_in([UnknownReason.NEVER_COMMITTED])[silent]
    acknowledged = before.reasons.is_in([UnknownReason.NEVER_COMMITTED])[at]
    keeps = found & (~never | acknowledged)
    known = before.offsets[at, CONSUMER] != NULL
    times = {name: microseconds(when) for name, when in read_at.items()}
    read = np.array([times.get(name or "", NULL) for name in before.brokers.texts], np.int64)[before.brokers.codes[at]]
    offsets = after.offsets.copy()
    offsets[silent, LOST_OFFSET] = np.where(known, before.offsets[at, CONSUMER], before.offsets[at, LOST_OFFSET])
    offsets[silent, LOST_AT] = np.where(known, read, before.offsets[at, LOST_AT])
    offsets[silent[~keeps], LOST_OFFSET:] = NULL
    return replace(after, offsets=offsets)


def reasons_are(reasons: pa.DictionaryArray, wanted: str) -> np.ndarray:
    texts = reasons.dictionary.to_pylist()
    if wanted not in texts:
        return np.zeros(len(reasons), bool)
    return reasons.indices.fill_null(-1).to_numpy() == texts.index(wanted)


def _all_but(places: np.ndarray, size: int) -> pa.Array:
    chosen = np.ones(size, bool)
    chosen[places] = False
    return pa.array(chosen)


def _by_pk(model: type[Queue] | type[ConsumerGroup], keys: np.ndarray, *names: str) -> dict[int, tuple[Any, ...]]:
    wanted, found = np.unique(keys).tolist(), {}
    for start in range(0, len(wanted), BATCH):
        rows = model.objects.filter(pk__in=wanted[start : start + BATCH])
        found.update({pk: values for pk, *values in rows.values_list("pk", *names)})
    return found
