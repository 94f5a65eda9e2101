"""Writes a reading as Parquet: one file per table, in the folder of the hour of the reading."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from consumers.lake.paths import file_name, hour_folder
from consumers.lake.schemas import DEAD_LETTERS, MEMBERSHIP, OWNERSHIP, READINGS
from consumers.lake.store import Lake
from consumers.lake.whole_hour import rows_in_group
from consumers.polling.reading import ClientReading, MembersReading, OffsetsReading

OF_THE_CLIENT = ("group", "client_id", "error", "orderly", "started_at", "strategy", "subscription", "sub_version")


def write_history(lake: Lake, rows: pa.Table, reading: OffsetsReading, members: MembersReading | None) -> None:
    """`rows` are the rows of all brokers, with a broker column. Writing the same reading again replaces it."""
    name = file_name(reading.taken_at)
    if rows.num_rows:
        table = _stamped(rows, reading)
        # Each broker's rows are in the order of their groups: the rows of one group are in few row groups.
        place = f"{hour_folder('readings', reading.cluster, reading.taken_at)}/{name}"
        lake.write(table, place, READINGS, rows_in_group(table.num_rows))
    if (dead := dead_letter_rows(reading)).num_rows:
        place = f"{hour_folder('dead_letters', reading.cluster, reading.taken_at)}/{name}"
        lake.write(dead, place, DEAD_LETTERS, rows_in_group(dead.num_rows))
    if members is None:
        return
    tables = {"membership": (membership_rows(members), MEMBERSHIP), "ownership": (ownership_rows(members), OWNERSHIP)}
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
