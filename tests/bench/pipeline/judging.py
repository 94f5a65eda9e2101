"""Judging queues with Spark beside DuckDB doing the same state logic on the same generated Parquet files."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
from pyspark.sql import SparkSession

from consumers.lake import reader
from consumers.lake.schemas import KNOTS, READINGS, names_note
from consumers.lake.store import Lake, file_name, hour_folder, rows_in_group
from consumers.lake.windows import put_window
from consumers.pipeline.bucket import Work
from consumers.pipeline.durations import Durations
from consumers.pipeline.inputs import SliceInputs
from consumers.pipeline.job import GROUPS, RETIRED
from consumers.pipeline.kernel.anchors import ANCHORS
from consumers.pipeline.kernel.evidence import Known
from consumers.pipeline.known import HANDS, LOST, MEMBERS, RETENTION, SILENT, STILL, UNREAD
from consumers.pipeline.rows import Span
from consumers.pipeline.spark import joined, run_buckets, session, spans_for
from consumers.pipeline.volumes import APPEARED, TOPICS
from tests.bench.pipeline.judged_states import states_alone
from tests.bench.pipeline.judging_sql import JUDGE
from tests.bench.result import Result

START = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
READINGS_EACH = 12
UNTIL = START + timedelta(seconds=15 * READINGS_EACH)
# Twelve readings span 165 s: "still" is a little shorter here, so that some queues are.
DURATIONS = Durations(stall_seconds=120)
QUEUES_OF_GROUP, QUEUES_OF_TOPIC, GROUPS_OF_TOPIC = 80, 16, 5


def run(sizes: Sequence[int] = (100_000, 1_000_000), master: str = "local[2]") -> list[Result]:
    spark = session(master, "1g", partitions=2)
    return [_beside_duckdb(spark, queues, master) for queues in sizes]


def _beside_duckdb(spark: SparkSession, queues: int, master: str) -> Result:
    with tempfile.TemporaryDirectory(prefix="consumerscope-bench-") as folder:
        lake = Lake.at(folder)
        write_lake(lake, queues)
        names = reader.files(lake, "readings", "bench", START, UNTIL)
        work = work_of(
            lake, START, UNTIL, DURATIONS, spans_for(lake, [names], spark.sparkContext.defaultParallelism, 1)
        )
        # The first run pays for the JVM's warming up; the worker's session is warm.
        _seconds(lambda: _evaluate(spark, work))
        ours, states = min(_seconds(lambda: _evaluate(spark, work)) for _ in range(3))
        beside, theirs = min(_seconds(lambda: _duckdb(names)) for _ in range(3))
    if states != theirs:
        raise RuntimeError(f"The two do not judge alike, so their times say nothing: {states} and {theirs}.")
    note = f"{queues:,} queues × {READINGS_EACH} readings, {master}, {len(work.spans)} buckets; {states}"
    return Result("evaluate every queue", ours, "s", f"DuckDB {duckdb.__version__}", beside, beside / ours, note)


def work_of(lake: Lake, since: datetime, until: datetime, durations: Durations, spans: Sequence[Span]) -> Work:
    """Of a site whose database knows nothing beside the readings."""
    known = Known(*(schema.empty_table() for schema in (GROUPS, MEMBERS, RETENTION, STILL, LOST, HANDS)))
    facts = SliceInputs(
        known, *(schema.empty_table() for schema in (RETIRED, SILENT, APPEARED, UNREAD, TOPICS, ANCHORS))
    )
    return Work(lake.url, ("bench",), since, since, until, durations, facts, spans, is_last=True, is_wide=False)


def _seconds(work: Callable[[], dict[str, int]]) -> tuple[float, dict[str, int]]:
    began = time.monotonic()
    found = work()
    return time.monotonic() - began, found


def _evaluate(spark: SparkSession, work: Work) -> dict[str, int]:
    return _counted(joined(run_buckets(spark, work, states_alone))["queue_states"])


def _duckdb(names: list[str]) -> dict[str, int]:
    with duckdb.connect(config={"threads": os.cpu_count() or 1}) as connection:
        return _counted(connection.sql(JUDGE, params={"files": names, "until": UNTIL}).to_arrow_table())


def _counted(judged: pa.Table) -> dict[str, int]:
    counts = judged["state"].value_counts().to_pylist()
    return {one["values"]: one["counts"] for one in sorted(counts, key=lambda one: one["values"])}


def write_lake(lake: Lake, queues: int) -> None:
    """Of twenty queues sixteen are level, one went back, one drains, one falls behind and one stands still."""
    number = np.arange(queues)
    group = number // QUEUES_OF_GROUP
    topic = (group // GROUPS_OF_TOPIC) * (
        QUEUES_OF_GROUP // QUEUES_OF_TOPIC
    ) + number % QUEUES_OF_GROUP // QUEUES_OF_TOPIC
    columns: dict[str, Any] = {
        "cluster": _names("bench", np.zeros(queues, int)),
        "group": _names("group-", group),
        "topic": _names("topic-", topic),
        "broker": _names("broker-", number % 16 // 8),
        "queue_id": pa.array(number % 8, pa.int32()),
        "kind": _names("normal", np.zeros(queues, int)),
        "min_offset": pa.array(np.zeros(queues, np.int64)),
        "pull_offset": pa.nulls(queues, pa.int64()),
        "first_stored_at": pa.nulls(queues, READINGS.field("first_stored_at").type),
        "slave_offset": pa.nulls(queues, pa.int64()),
        "unknown_reason": pa.nulls(queues, pa.string()),
    }
    kind = number % 20
    knots: list[pa.Table] = []
    for reading in range(READINGS_EACH):
        at = START + timedelta(seconds=15 * reading)
        broker = 1_000_000 + 150 * reading + topic % 7
        behind = np.select(
            [kind == 16, kind == 17, kind == 18, kind == 19],
            [400 * reading, 3000 - 100 * reading, 1600 + 50 * reading, 1650 + 150 * reading],
            0,
        )
        offsets = {"broker_offset": pa.array(broker), "consumer_offset": pa.array(broker - behind)}
        taken_at = pa.array([at] * queues, pa.timestamp("us", tz="UTC"))
        table = pa.table({**columns, **offsets, "taken_at": taken_at})
        # As the poll writes them: a note tells whose names are those of the reading before.
        place = f"{hour_folder('readings', 'bench', at)}/{file_name(at)}"
        lake.write(table, place, READINGS, rows_in_group(queues), names_note(table))
        knots.append(table.select(KNOTS.names[:-1]).append_column("at", taken_at))
    # As runs write them: a file of each minute.
    for minute, seen in enumerate(batched(knots, 4)):
        rows = pa.concat_tables(seen)
        put_window(lake, "knots", "bench", START + timedelta(minutes=minute), rows.group_by(KNOTS.names).aggregate([]))


def batched(tables: Sequence[pa.Table], count: int) -> Iterator[Sequence[pa.Table]]:
    return (tables[first : first + count] for first in range(0, len(tables), count))


def _names(prefix: str, numbers: np.ndarray) -> pa.Array:
    values = pa.array(
        [f"{prefix}{value:06d}" if prefix.endswith("-") else prefix for value in range(int(numbers.max()) + 1)]
    )
    return values.take(pa.array(numbers))
