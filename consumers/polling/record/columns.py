"""A reading's rows: first as one Arrow table of all brokers, then as columns keyed by what is stored."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake.schemas import TIME
from consumers.polling.reading import MembersReading, OffsetsReading
from consumers.polling.samples import FirstStored, QueueKey

from .coded import Coded
from .first_stored_column import first_stored_column
from .ids import EntityIds
from .snapshots import NULL, OFFSETS, Columns

ROWS = pa.schema(
    [
        ("group", pa.string()),
        ("topic", pa.string()),
        ("broker", pa.string()),
        ("queue_id", pa.int32()),
        ("kind", pa.string()),
        ("consumer_offset", pa.int64()),
        ("broker_offset", pa.int64()),
        ("min_offset", pa.int64()),
        ("pull_offset", pa.int64()),
        ("first_stored_at", TIME),
        ("unknown_reason", pa.string()),
    ]
)


def reading_rows(
    reading: OffsetsReading, members: MembersReading | None, holding: Mapping[QueueKey, FirstStored]
) -> pa.Table:
    """All brokers' rows in ROWS' columns; `pull_offset` where a client that holds the queue spoke in this reading,
    `first_stored_at` where an answer of `holding` is about the consumer offset."""
    parts = []
    for broker in reading.brokers:
        if broker.rows is not None:
            named = pa.repeat(pa.scalar(broker.name), broker.rows.num_rows)
            stored = first_stored_column(broker.rows, broker.name, holding)
            parts.append(broker.rows.append_column("broker", named).append_column("first_stored_at", stored))
    if not parts:
        return ROWS.empty_table()
    rows = pa.concat_tables(parts)
    return rows.append_column("pull_offset", _pull_offsets(rows, members)).select(ROWS.names).cast(ROWS)


def _pull_offsets(rows: pa.Table, members: MembersReading | None) -> pa.Array:
    """One past the newest message that the owner holds; nothing is held: its commit offset, where it committed."""
    pulled: dict[tuple[str, str, str, int], int] = {}
    for client in members.clients if members else ():
        for queue in client.queues:
            if queue.dropped:
                continue
            newest = queue.cached_max + 1 if queue.cached_max is not None else queue.commit_offset
            if newest is not None and newest >= 0:
                pulled[client.group, queue.topic, queue.broker, queue.queue_id] = newest
    if not pulled:
        return pa.nulls(rows.num_rows, pa.int64())
    held = {key[0] for key in pulled}
    values: list[int | None] = [None] * rows.num_rows
    for at in np.flatnonzero(pc.is_in(rows["group"], value_set=pa.array(sorted(held))).to_numpy()).tolist():
        key = tuple(rows[name][at].as_py() for name in ("group", "topic", "broker", "queue_id"))
        values[at] = pulled.get(key)
    return pa.array(values, pa.int64())


def reading_columns(rows: pa.Table, ids: EntityIds) -> Columns:
    """`rows` with primary keys for names, sorted by key. Every group and queue of it must have its key by then."""
    groups = _keys_of(rows["group"], ids.groups)
    encoded = [rows[name].combine_chunks().dictionary_encode() for name in ("topic", "broker")]
    queue_id = rows["queue_id"].to_numpy().astype(np.int64)
    topic, broker = (column.indices.to_numpy().astype(np.int64) for column in encoded)
    composite = (topic << 40) | (broker << 20) | queue_id
    distinct, first, inverse = np.unique(composite, return_index=True, return_inverse=True)
    names = [column.dictionary.to_pylist() for column in encoded]
    keys = [ids.queues[names[0][topic[at]], names[1][broker[at]], int(queue_id[at])] for at in first.tolist()]
    queues = np.array(keys, np.int64)[inverse] if len(distinct) else np.empty(0, np.int64)
    offsets = np.column_stack([pc.fill_null(rows[name], NULL).to_numpy() for name in OFFSETS])
    columns = Columns(
        (groups << 32) | queues,
        offsets.astype(np.int64),
        Coded.of_arrow(rows["unknown_reason"]),
        Coded.of_arrow(rows["broker"]),
        Coded.of_arrow(rows["kind"]),
    )
    return columns.take(np.argsort(columns.keys, kind="stable"))


def _keys_of(column: pa.ChunkedArray, known: dict[str, int]) -> np.ndarray:
    encoded = column.combine_chunks().dictionary_encode()
    keys = np.array([known[name] for name in encoded.dictionary.to_pylist()], np.int64)
    return keys[encoded.indices.to_numpy()] if len(keys) else np.empty(0, np.int64)
