"""A driver before a Spark cluster: `cluster_child.py MASTER LAKE MARK`. One run, and one in whose middle a worker dies.

It prints a line of JSON: whether each gave what a run without Spark gives, and in how many processes buckets were
worked on. MARK is a folder: a bucket of the second run says there that it is under way, and waits for `go`.
"""

import json
import os
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import django
import pyarrow as pa

BOUNDS = ["", "group-14", "group-19", "group-5", None]
WAIT_SECONDS = 480.0
LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.executor.memory": "512m"}


def found(tables: dict[str, pa.Table]) -> dict[str, list[str]]:
    """Without the order of buckets, and what a topic of several groups has in each of their buckets."""
    return {name: sorted(set(map(repr, table.to_pylist()))) for name, table in tables.items() if name != "worked"}


def main(master: str, location: str, mark: str) -> None:
    from consumers.lake.store import Lake
    from consumers.pipeline.bucket import worked
    from consumers.pipeline.rows import Span
    from consumers.pipeline.spark import joined, run_buckets, run_here, session
    from tests.pipeline_rows import at
    from tests.pipeline_work import a_work

    def with_process(work: Any, number: int) -> dict[str, Any]:
        return {**worked(work, number), "worked": pa.table({"process": [os.getppid()]})}

    def in_the_middle(work: Any, number: int) -> dict[str, Any]:
        tables = worked(work, number)
        (Path(mark) / f"under-way-{number}-{os.getpid()}").touch()
        until = time.monotonic() + WAIT_SECONDS
        while not (Path(mark) / "go").exists():
            assert time.monotonic() < until
            time.sleep(0.05)
        return tables

    spans = [Span(first or "", end) for first, end in pairwise(BOUNDS)]
    work = a_work(Lake.at(location), at(300), at(600), spans=spans)
    spark = session(master, "512m", partitions=2, extra=LOOPBACK)
    expected = found(joined(run_here(work)))
    whole = joined(run_buckets(spark, work, with_process))
    broken = joined(run_buckets(spark, work, in_the_middle))
    answer = {
        "rows": sum(map(len, expected.values())),
        "processes": len(set(whole["worked"]["process"].to_pylist())),
        "whole": found(whole) == expected,
        "broken": found(broken) == expected,
    }
    spark.stop()
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
    django.setup()
    main(*sys.argv[1:])
