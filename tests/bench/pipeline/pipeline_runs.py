"""Run as `python -m tests.bench.pipeline.pipeline_runs GROUPS QUEUES`: runs of the pipeline, one after another as beat
asks for them, over a generated site with half an hour of history in a database of its own. Prints, as a line of JSON,
what they took on average after the first, and at most."""

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import django
import numpy as np
import pyarrow as pa

from tests.bench.processes import cpu_seconds

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
POLL = timedelta(seconds=15)
# What beat asks for: two readings are new. Every second run ends a minute.
RANGE, RUNS = 2 * POLL, 7
# Produced offsets and windows of that time are there: without them no queue is looked for in them, and no trend read.
READINGS = 120
LOOK_SECONDS = 0.2
END = datetime(2026, 3, 1, 2, 30, tzinfo=UTC)
FIRST = END - RANGE * (RUNS - 1)


def main(groups: int, queues: int) -> None:
    make_site(groups, queues)
    # In a process of its own: what it takes is not of the runs.
    subprocess.run([sys.executable, "-m", "tests.bench.pipeline.pipeline_runs", "history"], check=True)
    print(json.dumps(measured()), flush=True)


def make_site(groups: int, queues: int) -> None:
    from django.core.management import call_command

    from consumers.models import GroupState, Reading
    from tests.bench.site_rows import BROKERS, fill

    call_command("migrate", verbosity=0)
    cluster = fill(groups, queues, END)
    # What is judged later than a run stays as it is: every run is to write.
    GroupState.objects.update(judged_at=END - timedelta(hours=1))
    read = [{"name": name, "read": True, "error": None} for name in BROKERS]
    moments = [END - POLL * number for number in range(READINGS, 0, -1)]
    Reading.objects.filter(cluster=cluster).delete()
    counts = {"queues": groups * queues, "calls": 6, "bytes": 0, "seconds": 0.1}
    Reading.objects.bulk_create(
        Reading(cluster=cluster, taken_at=at, complete=True, brokers=read, **counts) for at in moments
    )
    write_readings(groups, queues, moments)


def history() -> None:
    from consumers.pipeline.job import run
    from consumers.pipeline.site import site_durations, site_lake, warm_session

    since = END - READINGS * POLL
    run(warm_session(), site_lake(), ["bench"], since, FIRST - RANGE, site_durations())


def measured() -> dict[str, Any]:
    from consumers.models import GroupState
    from consumers.pipeline.job import RunCache, run
    from consumers.pipeline.site import site_durations, site_lake, warm_session

    spark, lake, durations, kept = warm_session(), site_lake(), site_durations(), RunCache()
    found: list[tuple[float, float]] = []
    with Memory() as memory:
        for number in range(RUNS):
            until = FIRST + number * RANGE
            began, spent = time.monotonic(), cpu_seconds(family())
            report = run(spark, lake, ["bench"], until - RANGE, until, durations, kept)
            found.append((time.monotonic() - began, cpu_seconds(family()) - spent))
    warm = found[1:]
    states = GroupState.objects.filter(judged_at=END).values_list("state", flat=True)
    return {
        "seconds": statistics.mean(seconds for seconds, _ in warm),
        "most_seconds": max(seconds for seconds, _ in warm),
        "cpu_seconds": statistics.mean(cpu for _, cpu in warm),
        "memory_mib": memory.most_mib,
        "queues": report.queues_judged,
        "runs": len(warm),
        "states": f"{sum(state == 'OK' for state in states):,} groups of {len(states):,} are OK",
    }


def write_readings(groups: int, queues: int, moments: list[datetime], first: int = 0) -> None:
    """Of twenty queues sixteen are level, one drains, one falls behind, one stands still, one went back."""
    from consumers.lake.schemas import READINGS, names_note
    from consumers.lake.store import file_name, hour_folder, rows_in_group
    from consumers.pipeline.site import site_lake
    from tests.bench.site_rows import BROKERS

    lake, number = site_lake(), np.arange(groups * queues)
    count, kind, place = len(number), number % 20, number % queues
    group_names, topics = ([f"{name}{n:05d}" for n in range(groups)] for name in ("group-", "Topic"))
    columns = {
        "cluster": pa.array(["bench"]).take(pa.array(np.zeros(count, int))),
        "group": pa.DictionaryArray.from_arrays(number // queues, group_names),
        "topic": pa.DictionaryArray.from_arrays(number // queues, topics),
        "broker": pa.DictionaryArray.from_arrays(place % 2, list(BROKERS)),
        "queue_id": pa.array(place // 2, pa.int32()),
        "kind": pa.array(["normal"]).take(pa.array(np.zeros(count, int))),
        "min_offset": pa.array(np.zeros(count, np.int64)),
        "pull_offset": pa.nulls(count, pa.int64()),
        "first_stored_at": pa.nulls(count, READINGS.field("first_stored_at").type),
        "slave_offset": pa.nulls(count, pa.int64()),
        "unknown_reason": pa.nulls(count, pa.string()),
    }
    for reading, at in enumerate(moments, first):
        broker = 1_000_000 + 150 * reading + place % 7
        cases = [kind == 16, kind == 17, kind == 18, kind == 19]
        drained = max(20_000 - 100 * reading, 0)
        waiting = [40 * (reading % 2), drained, 1600 + 50 * reading, 1650 + 150 * reading]
        offsets = {"broker_offset": broker, "consumer_offset": broker - np.select(cases, waiting, 0)}
        rows = pa.table({**columns, **offsets, "taken_at": pa.array([at] * count, READINGS.field("taken_at").type)})
        name = f"{hour_folder('readings', 'bench', at)}/{file_name(at)}"
        lake.write(rows, name, READINGS, rows_in_group(count), names_note(rows))


def family() -> list[int]:
    """This process and all below it: Java, and Spark's Python."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (stat := _text(entry / "stat")):
            parents[int(entry.name)] = int(stat.rsplit(")", 1)[1].split()[1])
    found = [os.getpid()]
    for mine in found:
        found += [pid for pid, parent in parents.items() if parent == mine]
    return found


class Memory:
    """The most that the family held at once, looked at now and then."""

    most_mib = 0.0

    def __enter__(self) -> "Memory":
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        while not self._done.wait(LOOK_SECONDS):
            held = [_text(Path(f"/proc/{pid}/statm")).split() for pid in family()]
            # Resident pages without those of files, which processes share.
            pages = sum(int(fields[1]) - int(fields[2]) for fields in held if fields)
            self.most_mib = max(self.most_mib, pages * page / 2**20)


def _text(path: Path) -> str:
    """Empty for a process that has ended."""
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


if __name__ == "__main__":
    django.setup()
    if sys.argv[1:] == ["history"]:
        history()
    else:
        main(int(sys.argv[1]), int(sys.argv[2]))
