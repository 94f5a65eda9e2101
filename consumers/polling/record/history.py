"""Writes a reading as Parquet: one file per table, in the folder of the hour of the reading."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake.encoded import encoded
from consumers.lake.schemas import DEAD_LETTERS, MEMBER_RATES, MEMBERSHIP, OWNERSHIP, READINGS, TIME, names_note
from consumers.lake.store import Lake, file_name, hour_folder, rows_in_group
from consumers.polling.reading import ClientReading, MembersReading, OffsetsReading
from consumers.polling.samples.reading import FirstStored, QueueKey, places
from consumers.vocabulary.times import microseconds

from .keyed_rows import EntityIds, HeldKey, RowQueues, numbers_at
from .snapshots import NULL, NUMBERS, OFFSETS, Coded, Columns

# A reading's rows: first as one Arrow table of all brokers, then as columns keyed by what is stored.

# The store time of the first unconsumed message, in the rows of every reading for which its answer is valid.


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
            values[at], missing[at] = microseconds(answer.stored_at), False
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
        ("slave_offset", pa.int64()),
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
    rows = rows.append_column("pull_offset", _pull_offsets(rows, members))
    # What of it is older than the master's is found by what is stored: lost_offsets.py.
    return rows.append_column("slave_offset", pa.nulls(rows.num_rows, pa.int64())).select(ROWS.names).cast(ROWS)


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
    unread = np.full((rows.num_rows, len(NUMBERS) - len(OFFSETS)), NULL, np.int64)
    offsets = np.column_stack([*(pc.fill_null(rows[name], NULL).to_numpy() for name in OFFSETS), unread])
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


OF_THE_CLIENT = ("group", "client_id", "error", "orderly", "started_at", "strategy", "subscription", "sub_version")


def write_history(lake: Lake, rows: pa.Table, reading: OffsetsReading, members: MembersReading | None) -> None:
    """`rows` are the rows of all brokers, with a broker column. Writing the same reading again replaces it."""
    name = file_name(reading.taken_at)
    if rows.num_rows:
        table = _stamped(rows, reading)
        # Each broker's rows are in the order of their groups: the rows of one group are in few row groups.
        place = f"{hour_folder('readings', reading.cluster, reading.taken_at)}/{name}"
        lake.write(table, place, READINGS, rows_in_group(table.num_rows), names_note(table))
    if (dead := dead_letter_rows(reading)).num_rows:
        place = f"{hour_folder('dead_letters', reading.cluster, reading.taken_at)}/{name}"
        lake.write(dead, place, DEAD_LETTERS, rows_in_group(dead.num_rows))
    if members is None:
        return
    tables = {
        "membership": (membership_rows(members), MEMBERSHIP),
        "ownership": (ownership_rows(members), OWNERSHIP),
        "member_rates": (rate_rows(members), MEMBER_RATES),
    }
    for table_name, (found, schema) in tables.items():
        if found:
            table = pa.Table.from_pylist(found, schema)
            lake.write(table, f"{hour_folder(table_name, reading.cluster, reading.taken_at)}/{name}", schema)


def dead_letter_rows(reading: OffsetsReading) -> pa.Table:
    """The ends of every dead-letter queue of the brokers that were read."""
    parts = []
    for broker in reading.brokers:
        if broker.read and broker.dead_letters is not None:
            topics = broker.dead_letters["topic"].cast(pa.string())
            found = broker.dead_letters.drop_columns("topic").append_column("topic", topics)
            parts.append(found.append_column("broker", pa.repeat(broker.name, found.num_rows)))
    if not parts:
        return DEAD_LETTERS.empty_table()
    return _stamped(pa.concat_tables(parts), reading).select(DEAD_LETTERS.names)


def membership_rows(members: MembersReading) -> list[dict[str, Any]]:
    return [
        {
            "cluster": members.cluster,
            "taken_at": members.taken_at,
            "group": answer.group,
            "complete": answer.complete,
            "members": len(answer.members) if answer.complete else None,
            "consume_type": answer.consume_type,
            "message_model": answer.message_model,
            "sub_version": answer.sub_version,
        }
        for answer in members.groups
    ]


def ownership_rows(members: MembersReading) -> list[dict[str, Any]]:
    return [
        {"cluster": members.cluster, "taken_at": members.taken_at, **row}
        for client in members.clients
        for row in _client_rows(client)
    ]


def rate_rows(members: MembersReading) -> list[dict[str, Any]]:
    """What each client reports of its last minute, a row per topic, and what it held of the topic's queues."""
    return [
        {
            "cluster": members.cluster,
            "taken_at": members.taken_at,
            "group": client.group,
            "client_id": client.client_id,
            "error": client.error,
            **row,
        }
        for client in members.clients
        for row in _topic_rates(client)
    ]


def _topic_rates(client: ClientReading) -> Iterator[dict[str, Any]]:
    reported, held = client.consume_status or {}, [queue for queue in client.queues if not queue.dropped]
    popped = {queue["topic"] for queue in client.pop_queues or ()}
    topics = sorted(reported.keys() | {queue.topic for queue in held})
    for topic in topics:
        caches = {
            f"cached_{what}": None if topic in popped else _sum(getattr(queue, f"cached_{what}") for queue in queues)
            for what in ("count", "mib")
            for queues in [[queue for queue in held if queue.topic == topic]]
        }
        yield {"topic": topic, **reported.get(topic, {}), **caches}
    if not topics:
        yield {"topic": None}


def _sum(values: Iterable[int | None]) -> int | None:
    """A part of a sum is no sum."""
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def _client_rows(client: ClientReading) -> Iterator[dict[str, Any]]:
    whose = {name: getattr(client, name) for name in OF_THE_CLIENT}
    for queue in client.queues:
        yield {**whose, **vars(queue)}
    if not client.queues:
        yield whose


def _stamped(rows: pa.Table, reading: OffsetsReading) -> pa.Table:
    size = rows.num_rows
    cluster = pa.repeat(pa.scalar(reading.cluster), size).dictionary_encode()
    return rows.append_column("cluster", cluster).append_column(
        "taken_at", pa.repeat(pa.scalar(reading.taken_at, READINGS.field("taken_at").type), size)
    )
