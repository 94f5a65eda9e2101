"""Run as `python -m tests.bench.pipeline.backfill_run GROUPS QUEUES HOURS`: a backfill over a generated lake, in a
database of its own. Prints as a line of JSON what it took."""

import json
import os
import sys
import time
from datetime import timedelta

import django

from tests.bench.pipeline.pipeline_runs import END, POLL, Memory, family, write_readings
from tests.bench.processes import cpu_seconds

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")


def main(groups: int, queues: int, hours: int) -> None:
    import duckdb
    from django.core.management import call_command

    from consumers.lake.retention import compact
    from consumers.models import Reading
    from consumers.pipeline.job import run
    from consumers.pipeline.site import site_durations, site_lake, warm_session
    from tests.bench.site_rows import BROKERS, fill

    call_command("migrate", verbosity=0)
    cluster = fill(groups, queues, END)
    read = [{"name": name, "read": True, "error": None} for name in BROKERS]
    counts = {"queues": groups * queues, "calls": 6, "bytes": 0, "seconds": 0.1}
    since = END - timedelta(hours=hours)
    moments = [since + POLL * number for number in range(timedelta(hours=hours) // POLL)]
    Reading.objects.filter(cluster=cluster).delete()
    Reading.objects.bulk_create(
        Reading(cluster=cluster, taken_at=at, complete=True, brokers=read, **counts) for at in moments
    )
    lake = site_lake()
    for first in range(0, len(moments), 240):
        write_readings(groups, queues, moments[first : first + 240], first)
        compact(lake, moments[min(first + 240, len(moments)) - 1], timedelta())
    spark, durations = warm_session(), site_durations()
    with Memory() as memory:
        began, spent = time.monotonic(), cpu_seconds(family())
        report = run(spark, lake, ["bench"], since, END, durations)
        seconds, cpu = time.monotonic() - began, cpu_seconds(family()) - spent
    began = time.monotonic()
    files = f"{lake.root}/readings/**/*.parquet"
    query = f"SELECT \"group\", sum(broker_offset - consumer_offset), max(taken_at) FROM '{files}' GROUP BY 1"
    duckdb.connect().execute(query).fetchall()
    told = {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "memory_mib": memory.most_mib,
        "readings": report.readings,
        "windows": report.windows,
        "floor_seconds": time.monotonic() - began,
    }
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    django.setup()
    main(*(int(word) for word in sys.argv[1:]))
