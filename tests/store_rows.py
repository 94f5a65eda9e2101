"""What clients and offset files say, as rows and as the lake keeps it. Times are given, never read."""

import json
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from django.conf import settings

from consumers.lake.schemas import STORED_OFFSETS
from consumers.lake.store import Lake, file_name, hour_folder
from consumers.models import Assignment, Client, Cluster, ConsumerGroup, OffsetFile, Queue
from tests.world import ago

SECONDS_AGO, MINUTE_AGO = ago(5), ago(30)


def a_client(group: ConsumerGroup, client_id: str = "c1", **fields: Any) -> Client:
    values: dict[str, Any] = {"address": "10.0.0.7:50000", "language": "JAVA", "version": "V5_4_0"}
    values |= {"seen_since": ago(600), "last_seen": SECONDS_AGO, "running_info_at": SECONDS_AGO}
    return Client.objects.create(group=group, client_id=client_id, **(values | fields))


def an_owner(
    group: ConsumerGroup,
    queue: Queue,
    held: tuple[int, int, int] | None = None,
    *,
    commit: int | None = None,
    client_id: str = "c1",
    **fields: Any,
) -> Assignment:
    """`held`: the least and the greatest offset, and how many messages; None: the client holds none."""
    least, greatest, count = held or (None, None, 0)
    values: dict[str, Any] = {"cached_min": least, "cached_max": greatest, "cached_count": count}
    values |= {"commit_offset": commit if commit is not None else least, "seen_since": ago(600)}
    values |= {"last_seen": SECONDS_AGO, "locked": True, "dropped": False}
    return Assignment.objects.create(group=group, queue=queue, client_id=client_id, **(values | fields))


def a_file_row(
    topic: str = "Orders", queue_id: int | None = 0, offset: int | None = 0, **fields: Any
) -> dict[str, Any]:
    values: dict[str, Any] = {"group": "billing", "topic": topic, "queue_id": queue_id, "offset": offset}
    return {"broker": "broker-a", "client_id": None, "finding": None, **values, **fields}


def an_offset_file(
    cluster: Cluster,
    *rows: dict[str, Any],
    path: str = "/store/config/consumerOffset.json",
    kind: str = "broker_file",
    read_at: datetime | None = MINUTE_AGO,
    **fields: Any,
) -> OffsetFile:
    """The file's row; `rows` are added to what the lake holds of its reading."""
    values: dict[str, Any] = {"broker": "broker-a" if kind == "broker_file" else None, "modified_at": ago(32)}
    file = OffsetFile.objects.create(
        cluster=cluster, path=path, kind=kind, read_at=read_at, rows=len(rows), **(values | fields)
    )
    if read_at is not None:
        stored = [{"cluster": cluster.name, "taken_at": read_at, "kind": kind, "source": path, **row} for row in rows]
        add_stored(cluster, read_at, [{"modified_at": file.modified_at, **row} for row in stored])
    return file


def add_stored(cluster: Cluster, read_at: datetime, rows: list[dict[str, Any]]) -> None:
    lake = Lake.at(settings.CONSUMERSCOPE_LAKE)
    name = f"{hour_folder('stored_offsets', cluster.name, read_at)}/{file_name(read_at)}"
    table = pa.Table.from_pylist(rows, STORED_OFFSETS)
    if lake.filesystem.get_file_info(lake.path(name)).is_file:
        with lake.filesystem.open_input_file(lake.path(name)) as there:
            table = pa.concat_tables([pq.read_table(there, schema=STORED_OFFSETS), table])
    lake.write(table, name, STORED_OFFSETS)


def a_problem(code: str) -> str:
    """As the poll stores why a file was not read. A code that is not known is shown as it is."""
    return json.dumps({"code": code, "params": {}})


def a_finding(code: str) -> str:
    """As a row of a file stores what is wrong with it."""
    return json.dumps([{"code": code, "where": None, "params": {}}])
