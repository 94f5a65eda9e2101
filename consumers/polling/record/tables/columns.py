"""A reading's rows: first as one Arrow table of all brokers, then as columns keyed by what is stored."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake.schemas import TIME
from consumers.polling.brokers.joined import encoded
from consumers.polling.reading import MembersReading, OffsetsReading
from consumers.polling.record.offsets.snapshots import LOST, NULL, OFFSETS, Columns
from consumers.polling.samples.broker_clock import places
from consumers.polling.samples.reading import FirstStored, QueueKey

from .coded import Coded
from .ids import EntityIds
from .row_queues import HeldKey, RowQueues, numbers_at

# The store time of the first unconsumed message, in the rows of every reading for which its answer is valid.

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def first_stored_column(rows: pa.Table, broker: str, holding: Mapping[QueueKey, FirstStored]) -> pa.Array:
    """One value for each of the broker's rows; null if no answer is valid for its consumer offset."""
    mine = {
        (group, topic, queue_id): answer
        for (group, topic, name, queue_id), answer in holding.items()
        if name == broker and answer.stored_at is not None
    }
    values, missing = np.zeros(rows.num_rows, np.int64), np.ones(rows.num_rows, bool)
    for place, at in places(rows, mine).items():
        answer = mine[place]
        if answer.stored_at is not None and rows["consumer_offset"][at].as_py() == answer.offset:
            values[at], missing[at] = (answer.stored_at - EPOCH) // timedelta(microseconds=1), False
    return pa.array(values, pa.int64(), mask=missing).cast(TIME)


# Texts stay dictionary-encoded: a million rows share a few thousand texts.
TEXT = pa.dictionary(pa.int32(), pa.string())
ROWS = pa.schema(
    [
        ("group", TEXT),
        ("topic", TEXT),
        ("broker", TEXT),
        ("queue_id", pa.int32()),
        ("kind", TEXT),
        ("consumer_offset", pa.int64()),
        ("broker_offset", pa.int64()),
        ("min_offset", pa.int64()),
        ("pull_offset", pa.int64()),
        ("first_stored_at", TIME),
        ("unknown_reason", TEXT),
    ]
)


def reading_rows(
    reading: OffsetsReading, members: MembersReading | None, holding: Mapping[QueueKey, FirstStored]
) -> pa.Table:
    """All brokers' rows in ROWS' columns. `pull_offset` is set if the client that holds the queue answered in this
    reading, `first_stored_at` if an answer in `holding` is for the consumer offset.
    """
    parts = []
    for broker in reading.brokers:
        if broker.rows is not None:
            named = pa.repeat(pa.scalar(broker.name), broker.rows.num_rows).dictionary_encode()
            stored = first_stored_column(broker.rows, broker.name, holding)
            parts.append(broker.rows.append_column("broker", named).append_column("first_stored_at", stored))
    if not parts:
        return ROWS.empty_table()
    rows = _encoded(pa.concat_tables(parts))
    return rows.append_column("pull_offset", _pull_offsets(rows, members)).select(ROWS.names).cast(ROWS)


def _encoded(rows: pa.Table) -> pa.Table:
    columns = (
        encoded(rows[field.name]) if ROWS.field(field.name).type == TEXT else rows[field.name] for field in rows.schema
    )
    return pa.table(list(columns), names=rows.column_names)


def _pull_offsets(rows: pa.Table, members: MembersReading | None) -> pa.Array:
    """One past the newest message that the owner holds. If it holds none: its commit offset, if it committed."""
    pulled: dict[HeldKey, int] = {}
    for client in members.clients if members else ():
        for queue in client.queues:
            if queue.dropped:
                continue
            newest = queue.cached_max + 1 if queue.cached_max is not None else queue.commit_offset
            if newest is not None and newest >= 0:
                pulled[client.group, queue.topic, queue.broker, queue.queue_id] = newest
    return numbers_at(rows, pulled)


def reading_columns(rows: pa.Table, queues: RowQueues, ids: EntityIds) -> Columns:
    """`rows` with primary keys for names, sorted by key. Every group and queue must have its key by then."""
    unlost = np.full((rows.num_rows, len(LOST)), NULL, np.int64)
    offsets = np.column_stack([*(pc.fill_null(rows[name], NULL).to_numpy() for name in OFFSETS), unlost])
    columns = Columns(
        (_keys_of(rows["group"], ids.groups) << 32) | queues.keyed(ids.queues),
        offsets.astype(np.int64, copy=False),
        Coded.of_arrow(rows["unknown_reason"]),
        Coded.of_arrow(rows["broker"]),
        Coded.of_arrow(rows["kind"]),
    )
    return columns.take(np.argsort(columns.keys, kind="stable"))


def stored_keys(rows: pa.Table, queues: RowQueues, ids: EntityIds) -> np.ndarray:
    """The key of each row, -1 where its group or queue is not stored yet."""
    names = encoded(rows["group"])
    known = np.array([ids.groups.get(name, -1) for name in names.dictionary.to_pylist()], np.int64)
    groups = known[names.indices.to_numpy()] if len(known) else np.empty(0, np.int64)
    places = np.array([ids.queues.get(key, -1) for key in queues.keys], np.int64)[queues.places]
    return np.where((groups < 0) | (places < 0), -1, groups << 32 | places)


def _keys_of(column: pa.ChunkedArray, known: dict[str, int]) -> np.ndarray:
    names = encoded(column)
    keys = np.array([known[name] for name in names.dictionary.to_pylist()], np.int64)
    return keys[names.indices.to_numpy()] if len(keys) else np.empty(0, np.int64)
