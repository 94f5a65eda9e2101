"""One whole reading beside `mqadmin consumerProgress`, on the same brokers in the same run."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from dashboard.demo.cluster import RocketMQ
from dashboard.demo.jars import ensure_jars, jars_folder
from dashboard.demo.java import find_java

from .populate import Size, populate
from .result import Result

PROJECT = Path(__file__).resolve().parents[2]
MEDIUM = Size(topics=200, queues=8, groups=500, topics_per_group=4)
# Min offsets are asked under a budget: after so many readings all are known, and a reading costs what it always will.
READINGS, UNTIL_STEADY = 11, 5
MQADMIN_SECONDS = 300.0


@dataclass(frozen=True)
class Cost:
    """`broker_cpu` is what the brokers' processes spent meanwhile, in seconds of CPU."""

    seconds: float
    broker_cpu: float


def run(size: Size = MEDIUM) -> list[Result]:
    jars = ensure_jars(find_java(), jars_folder(PROJECT / "var"), progress=print)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))
        cluster = RocketMQ(Path(folder), jars, brokers=2)
        for broker in cluster.brokers.values():
            populate(broker.store, size)
        stack.enter_context(cluster)
        readings = _our_readings(cluster, Path(folder) / "consumerscope")
        theirs = _cost_of_mqadmin(cluster, size)
    return _results(size, readings, theirs)


def _results(size: Size, readings: list[dict[str, float]], theirs: Cost) -> list[Result]:
    steady = sorted(readings[UNTIL_STEADY:], key=lambda reading: reading["seconds"] + reading["record_seconds"])
    warm = steady[len(steady) // 2]
    what = f"{size.groups} groups × {size.topics_per_group} of {size.topics} topics × {size.queues} queues × 2 brokers"
    note = f"{what}: {warm['queues']:.0f} queues of groups, {warm['calls']:.0f} calls"
    stored = warm["seconds"] + warm["record_seconds"]
    first = readings[0]
    rows = [
        ("reading, wire and parsing", warm["seconds"], theirs.seconds, "s", note),
        ("reading and storing, nothing changed", stored, theirs.seconds, "s", note),
        (
            "first reading and storing of every row",
            first["seconds"] + first["record_seconds"],
            theirs.seconds,
            "s",
            f"{first['calls']:.0f} calls, with configuration and min offsets",
        ),
        ("CPU of the brokers per reading", warm["broker_cpu"], theirs.broker_cpu, "s", "offsets and members"),
    ]
    return [
        Result(name, ours, unit, "mqadmin consumerProgress", beside, beside / ours if ours else float("inf"), text)
        for name, ours, beside, unit, text in rows
    ]


def _our_readings(cluster: RocketMQ, home: Path) -> list[dict[str, float]]:
    pids = [broker.pid for broker in cluster.brokers.values()]
    environ = {"CONSUMERSCOPE_HOME": str(home), "DATABASE_URL": "", "REDIS_URL": f"unix://{home}/none.sock"}
    output = _python("dashboard.bench.read_cluster", cluster.namesrv, str(READINGS), json.dumps(pids), **environ)
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def _cost_of_mqadmin(cluster: RocketMQ, size: Size) -> Cost:
    pids = [broker.pid for broker in cluster.brokers.values() if broker.pid is not None]
    cpu, began = cpu_seconds(pids), time.perf_counter()
    output = cluster.mqadmin("consumerProgress", timeout=MQADMIN_SECONDS)
    cost = Cost(time.perf_counter() - began, cpu_seconds(pids) - cpu)
    _check(output, size)
    return cost


def cpu_seconds(pids: list[int]) -> float:
    """User and system time of the processes so far (fields 14 and 15 of /proc/PID/stat)."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _check(output: str, size: Size) -> None:
    listed = output.count("bench-group-")
    if listed < size.groups:
        raise SystemExit(f"mqadmin listed {listed} of {size.groups} groups: its time says nothing.")


def _python(module: str, *words: str, **environ: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=PROJECT,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{module} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout
