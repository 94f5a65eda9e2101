"""What stored rows know better than a reading: offsets that a broker lost, a slave's older answers in its master's
place, and brokers that are removed for good.

An offset is lost that an earlier reading had and that the broker has no more, while it still lists the topic and the
group. Such a queue is neither forgotten nor "never committed": it keeps its last known offset and the time of that
offset. A broker that was read from a slave lacks what the slave lacks; only its master's own lists prove a deletion.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.db import transaction
from django.db.models import QuerySet

from consumers.lake.encoded import encoded
from consumers.models import (
    Assignment,
    Broker,
    Cluster,
    ConsumerGroup,
    DeadLetter,
    DeadLetterLook,
    DelayLevel,
    GroupBroker,
    HeadMessage,
    Queue,
    QueueSample,
    QueueSnapshot,
    QueueState,
    Rung,
)
from consumers.polling.reading import BrokerReading, OffsetsReading
from consumers.polling.record.history import ROWS, stored_keys
from consumers.polling.record.keyed_rows import EntityIds, RowQueues
from consumers.polling.record.snapshots import LOST, NULL, OFFSETS, Coded, Columns
from consumers.polling.record.totals import GroupKinds
from consumers.vocabulary.states import MASTER, UnknownReason
from consumers.vocabulary.times import microseconds

# Columns of the remembered numbers.
CONSUMER, BROKER = OFFSETS.index("consumer_offset"), OFFSETS.index("broker_offset")
LOST_OFFSET, LOST_AT = (len(OFFSETS) + LOST.index(name) for name in ("lost_offset", "lost_at"))
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
            shown = reason if reason == UnknownReason.NEVER_COMMITTED else UnknownReason.OFFSET_LOST
            found.append(row | {"kind": kind, "unknown_reason": shown})
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


# A slave's answers in its master's place, without values older than the stored ones.
#
# A slave copies its master's consumer offsets once a minute (RocketMQ 5.4.0, BrokerController: lastSyncTimeMs), and
# messages as they arrive. Its older offset is no rewind, and its earlier end of a queue would make a lag too small. The
# comparison uses the database: a poll worker that starts while a slave stands in knows as much as any other.


def without_older(
    rows: pa.Table, reading: OffsetsReading, stored: Columns, ids: EntityIds, cluster: Cluster
) -> pa.Table:
    """`rows` in their order. A value of the slave that is older than the stored one is unknown, with the reason; an
    older offset stays as `slave_offset`: whoever takes the queue from the slave begins there. A lost offset stays lost
    until the group commits again; an old copy on the slave is no commit.
    """
    slaves = {broker.name: broker.read_from for broker in reading.brokers if broker.read_from is not None}
    if not slaves or not len(stored.keys):
        return rows
    at, found = stored.find(stored_keys(rows, RowQueues.of(rows), ids))
    names = Coded.of_arrow(rows["broker"])
    found &= names.is_in(slaves)
    reasons, before = stored.reasons.take(at), stored.offsets[at]
    consumer, end = (pc.fill_null(rows[name], NULL).to_numpy() for name in ("consumer_offset", "broker_offset"))

    was_lost = found & reasons.is_in([UnknownReason.OFFSET_LOST])
    # An offset that the same slave lacked in the previous reading was committed to the slave.
    committed = was_lost & names.is_in(_stood_in(cluster, slaves))
    remembered = np.where(reasons.is_in([UnknownReason.NEVER_COMMITTED]), NULL, before[:, LOST_OFFSET])
    known = np.where(before[:, CONSUMER] != NULL, before[:, CONSUMER], remembered)
    still_lost = was_lost & ~committed & (consumer != NULL) & (consumer <= known)
    has_older = found & ~was_lost & (consumer != NULL) & (consumer < known)
    # An end that was not comparable stays so: no message is written to a slave that could advance the end.
    ends_unknown = reasons.is_in([UnknownReason.SLAVE_BEHIND, UnknownReason.OFFSET_LOST]) & (before[:, BROKER] == NULL)
    ends_before = found & ((end < before[:, BROKER]) | ends_unknown)
    unknown = (has_older | (ends_before & (consumer != NULL))) & ~still_lost
    if not (unknown | still_lost | ends_before).any():
        return rows
    texts = np.array(rows["unknown_reason"].cast(pa.string()).to_pylist(), object)
    texts[unknown], texts[still_lost] = UnknownReason.SLAVE_BEHIND, UnknownReason.OFFSET_LOST
    rows = _replaced(rows, "slave_offset", np.where(has_older, consumer, NULL))
    rows = _replaced(rows, "consumer_offset", np.where(unknown | still_lost, NULL, consumer))
    rows = _replaced(rows, "broker_offset", np.where(ends_before, NULL, end))
    place = rows.schema.get_field_index("unknown_reason")
    return rows.set_column(place, ROWS.field(place), pa.array(texts, pa.string()).cast(ROWS.field(place).type))


def _stood_in(cluster: Cluster, slaves: Mapping[str, str]) -> list[str]:
    """Returns the brokers whose part of the previous reading came from the same slave."""
    rows = Broker.objects.filter(cluster=cluster, name__in=slaves, read_from__in=slaves.values())
    return [name for name, read_from in rows.values_list("name", "read_from") if slaves[name] == read_from]


def _replaced(rows: pa.Table, name: str, values: np.ndarray) -> pa.Table:
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, ROWS.field(place), pa.array(values, pa.int64(), mask=values == NULL))


class BrokerStays(Exception):
    """The broker is not forgotten; str() is one sentence with the reason."""


# Forgets a broker that was removed from its cluster for good. Until then the broker looks like one that is down.
def forget_broker(cluster: Cluster, name: str) -> int:
    """Deletes the broker and all rows of its queues; returns the number of queues. Raises BrokerStays. The caller holds
    the cluster's poll lock.
    """
    if against := _why_not(cluster, name):
        raise BrokerStays(against)
    with transaction.atomic():
        for rows in _on(cluster, name):
            rows.delete()
        queues = Queue.objects.filter(topic__cluster=cluster, broker=name)
        count = queues.count()
        queues.delete()
        cluster.brokers.filter(name=name).delete()
    return count


def _why_not(cluster: Cluster, name: str) -> str | None:
    found: Broker | None = cluster.brokers.filter(name=name, broker_id=MASTER).first()
    if found is None:
        names = sorted(set(cluster.brokers.values_list("name", flat=True)))
        known = f"it has {', '.join(names)}" if names else "it has none yet"
        return f"{cluster.name} has no broker {name!r}: {known}."
    if found.last_read_at is not None and found.failing_since is None:
        return f"{name} was read when it was asked last: only a broker that does not answer can be forgotten."
    return None


def _on(cluster: Cluster, name: str) -> list[QuerySet[Any]]:
    """The rows that refer to the broker's queues come first, so that queues are deleted without a lookup each."""
    of_queues = {"queue__broker": name, "queue__topic__cluster": cluster}
    of_groups = {"broker": name, "group__cluster": cluster}
    return [
        *(
            model.objects.filter(**of_queues)
            for model in (QueueSnapshot, QueueState, QueueSample, HeadMessage, Assignment)
        ),
        *(model.objects.filter(**of_groups) for model in (GroupBroker, Rung, DeadLetter, DeadLetterLook)),
        DelayLevel.objects.filter(cluster=cluster, broker=name),
    ]
