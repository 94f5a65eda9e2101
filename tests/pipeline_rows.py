"""Readings, and the files of them, written by hand: a queue is (consumer offset, broker offset) at each reading."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from consumers.lake.schemas import TABLES, names_note
from consumers.lake.store import Lake, file_name, hour_folder
from consumers.pipeline.kernel.readings import Gathered
from consumers.pipeline.kernel.time_lag import History, KnotsOf, TimeLags

T0 = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
PLACE = {"cluster": "prod", "group": "billing", "topic": "Orders", "broker": "broker-a", "queue_id": 0}


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def us(seconds: float) -> int:
    return (at(seconds) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def rows(
    offsets: Sequence[tuple[int | None, int | None]], *, start: float = 0, every: float = 15, **fields: Any
) -> list[dict[str, Any]]:
    """One reading for each pair of offsets, `every` seconds from `start` on."""
    values = {**PLACE, "kind": "normal", "min_offset": 0, "pull_offset": None, "unknown_reason": None, **fields}
    return [
        {**values, "taken_at": at(start + every * number), "consumer_offset": consumer, "broker_offset": broker}
        for number, (consumer, broker) in enumerate(offsets)
    ]


def table(name: str, found: Sequence[dict[str, Any]]) -> pa.Table:
    """The rows with the lake's columns."""
    return pa.Table.from_pylist(list(found), TABLES[name])


def gathered(found: Sequence[dict[str, Any]]) -> Gathered:
    return Gathered.of(table("readings", found))


def lags_of(read: Gathered, lags: TimeLags) -> list[dict[str, Any]]:
    """Of each queue its columns and `lags`, a row each."""
    columns = (lags.segments.queue, lags.at_us, lags.seconds, lags.error_seconds)
    values = zip(*(column.tolist() for column in columns), lags.kind.arrow().to_pylist(), strict=True)
    found = [row | {"lags": []} for row in read.queues.to_pylist()]
    for queue, *numbers, kind in values:
        at_us, seconds, error = (None if number != number else number for number in numbers)
        found[queue]["lags"].append({"at_us": at_us, "seconds": seconds, "error_seconds": error, "kind": kind})
    return found


def frame(spark, table: str, found: Sequence[dict[str, Any]]):
    """The rows as a Spark frame with the lake's columns."""
    from pyspark.sql.pandas.types import from_arrow_schema

    if not found:
        return spark.createDataFrame([], from_arrow_schema(TABLES[table]))
    return spark.createDataFrame(pa.Table.from_pylist(list(found), TABLES[table]))


def put(lake: Lake, table: str, found: Sequence[dict[str, Any]], time: str = "taken_at", prefix: str = "") -> None:
    """Each time's rows in a file of their own, as the poll writes them; `prefix` keeps it apart from another one."""
    for moment in sorted({row[time] for row in found}):
        chosen = [row for row in found if row[time] == moment]
        for cluster in {row["cluster"] for row in chosen}:
            of_cluster = [row for row in chosen if row["cluster"] == cluster]
            schema = TABLES[table]
            name = f"{hour_folder(table, cluster, moment)}/{prefix}{file_name(moment)}"
            written = pa.Table.from_pylist(of_cluster, schema)
            lake.write(written, name, schema, note=names_note(written) if table == "readings" else None)


def stored_history(knots_of: KnotsOf) -> History:
    """The same knots, whichever part of history is asked for."""
    return History([knots_of], knots_of, within=lambda asked, **span: knots_of(asked))
