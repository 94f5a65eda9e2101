"""Run as `python -m tests.bench.pipeline.read_history GROUPS QUEUES`: charts of one group out of a generated week.

Prints one line of JSON per chart, with the time of DuckDB for the same rows of the same files.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import django
import duckdb

from consumers.lake.reader import files
from consumers.lake.store import Lake
from tests.bench.pipeline.history_lake import CLUSTER, HOURS, NOW, Extent, starts, write_lake

if TYPE_CHECKING:
    from consumers.queries.history import By

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
SPANS = {"1 h": timedelta(hours=1), "24 h": timedelta(hours=24), "7 d": timedelta(days=7)}
KINDS: "tuple[By, ...]" = ("group", "topic", "queue")
TIMES = 5
COLUMNS = "start, topic, broker, queue_id, lag_messages, time_lag_seconds, consume_rate, produce_rate, readings"
QUEUE = f'select {COLUMNS} from read_parquet($files) where "group" = $group and start >= $since and start < $until'
SUMS = "select {names} start, sum(lag_messages), sum(consume_rate), sum(produce_rate) from ({queue}) group by all"
DUCKDB = {
    "queue": QUEUE,
    "topic": SUMS.format(names="topic,", queue=QUEUE),
    "group": SUMS.format(names="", queue=QUEUE),
}


def main(extent: Extent) -> None:
    from django.conf import settings
    from django.core.management import call_command

    from consumers.queries.history import group_history

    call_command("migrate", verbosity=0)
    lake = Lake.at(settings.CONSUMERSCOPE_LAKE)
    rows = write_lake(lake, extent)
    _write_rows(extent)
    size = sum(path.stat().st_size for path in Path(lake.root).rglob("*.parquet"))
    name = extent.group(extent.groups // 2)
    for span, length in SPANS.items():
        # As the site chooses them (consumers/queries/windows.py).
        step = 60 if length <= timedelta(hours=6) else 600
        found = files(lake, f"windows_{step}", CLUSTER, NOW - length, NOW)
        asked = {"files": found, "group": name, "since": NOW - length, "until": NOW}
        for by in KINDS:
            ours = _seconds(partial(group_history, CLUSTER, name, since=NOW - length, until=NOW, now=NOW, by=by))
            theirs = _seconds(partial(_duckdb, DUCKDB[by], asked))
            chart = {"span": span, "by": by, "ours": ours, "duckdb": theirs}
            print(json.dumps({**chart, "rows": rows, "bytes": size, "files": len(found)}), flush=True)


def _duckdb(query: str, asked: dict[str, object]) -> None:
    with duckdb.connect() as connection:
        connection.execute(query, asked).fetchall()


def _seconds(work: Callable[[], object]) -> float:
    work()
    times = []
    for _ in range(TIMES):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return median(times)


def _write_rows(extent: Extent) -> None:
    """Entities, and the windows per group that the pipeline keeps in the database."""
    from consumers.models import Cluster, ConsumerGroup, GroupKind, GroupWindow
    from consumers.polling.record.keyed_rows import upsert

    cluster = Cluster.objects.create(name=CLUSTER, namesrv="127.0.0.1:9876", created_at=NOW)
    kind = GroupKind.USER
    names = [extent.group(number) for number in range(extent.groups)]
    ConsumerGroup.objects.bulk_create(
        [ConsumerGroup(cluster=cluster, name=name, kind=kind, first_seen_at=NOW) for name in names]
    )
    keys = list(cluster.groups.values_list("pk", flat=True))
    for step, hours in HOURS.items():
        times = list(starts(NOW.replace(minute=0) - timedelta(hours=hours - 1), step))
        for pk in keys:
            size = len(times)
            columns: dict[str, Sequence[Any]] = {
                "group": [pk] * size,
                "step_seconds": [step] * size,
                "start": times,
                "readings": [4] * size,
                # As the database keeps a document: upsert knows none.
                "volumes_unknown": ["{}"] * size,
            }
            columns["lag_messages"] = range(size)
            upsert(GroupWindow, ["group", "step_seconds", "start"], columns)


if __name__ == "__main__":
    django.setup()
    main(Extent(int(sys.argv[1]), int(sys.argv[2])))
