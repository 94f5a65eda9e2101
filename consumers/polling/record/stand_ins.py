"""Brokers that are gone or replaced: a slave's answers in its master's place, and removing a broker for good."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.db import transaction
from django.db.models import QuerySet

from consumers.models import (
    Assignment,
    Broker,
    Cluster,
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
from consumers.polling.reading import OffsetsReading
from consumers.vocabulary.states import MASTER, UnknownReason

from .history import ROWS, stored_keys
from .keyed_rows import EntityIds, RowQueues
from .snapshots import LOST, NULL, OFFSETS, Coded, Columns

# A slave's answers in its master's place, without values older than the stored ones.
#
# A slave copies its master's consumer offsets once a minute (RocketMQ 5.4.0, BrokerController: lastSyncTimeMs), and
# messages as they arrive. Its older offset is no rewind, and its earlier end of a queue would make a lag too small. The
# comparison uses the database: a poll worker that starts while a slave stands in knows as much as any other.
CONSUMER, BROKER = OFFSETS.index("consumer_offset"), OFFSETS.index("broker_offset")

LOST_OFFSET = len(OFFSETS) + LOST.index("lost_offset")


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
    """The brokers whose part of the previous reading came from the same slave."""
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
