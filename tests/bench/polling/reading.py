"""Whole readings beside `mqadmin consumerProgress`, on the same brokers in the same run, at two sizes."""

import asyncio
import contextlib
import json
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from dashboard.demo.cluster import RocketMQ, ensure_jars, jars_folder
from dashboard.demo.java import find_java
from tests.bench.polling.populate import Size, populate
from tests.bench.polling.read_cluster import Plan
from tests.bench.polling.traffic import fill
from tests.bench.processes import PROJECT, cpu_seconds, python
from tests.bench.result import Result

MEDIUM = Size(topics=200, queues=8, groups=500, topics_per_group=4)
LARGE = Size(topics=1000, queues=8, groups=5000, topics_per_group=4)
# Min offsets are asked under a budget: after so many readings all are known, and a reading costs what it always will.
UNTIL_STEADY = {MEDIUM: 5, LARGE: 18}
STILL, MOVING, MESSAGES = 7, 5, 8
MQADMIN_SECONDS = 300.0
MEMORY_MIB = 600
# A consume queue's file per queue: thousands of them must be small. Heap for twenty thousand maps of offsets.
CONFIG = {"mappedFileSizeConsumeQueue": str(20 * 100)}
FLAGS = ("-Xmx640m",)

Reading = dict[str, Any]


@dataclass(frozen=True)
class Cost:
    """`broker_cpu` is what the brokers' processes spent meanwhile, in seconds of CPU."""

    seconds: float
    broker_cpu: float


def run() -> list[Result]:
    medium, of_medium = measured(MEDIUM)
    large, of_large = measured(LARGE)
    per_byte = [warm["seconds"] / warm["bytes"] * 1e9 for warm in (of_large, of_medium)]
    note = "; ".join(f"{warm['calls']} calls, {warm['bytes']:,} bytes" for warm in (of_large, of_medium))
    beside = f"the same at {of_medium['queues']:,} queues"
    growth = Result(
        "a reading's time for each byte", per_byte[0], "ns", beside, per_byte[1], per_byte[1] / per_byte[0], note
    )
    return [*medium, *large, growth]


def measured(size: Size) -> tuple[list[Result], Reading]:
    """The lines of one size, and a reading of a broker at rest."""
    jars = ensure_jars(find_java(), jars_folder(PROJECT / "var"), progress=print)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        cluster = RocketMQ(folder, jars, brokers=2, config=CONFIG, flags=FLAGS)
        for broker in cluster.brokers.values():
            populate(broker.store, size)
        stack.enter_context(cluster)
        topics = [size.topic(number) for number in range(size.topics)]
        for broker in cluster.brokers.values():
            asyncio.run(fill(broker.address, topics, size.queues, MESSAGES))
        readings = _our_readings(cluster, size, folder / "consumerscope")
        theirs = _cost_of_mqadmin(cluster, size)
    still = _typical(readings[UNTIL_STEADY[size] : -MOVING])
    return _results(size, readings, still, theirs), still


def _results(size: Size, readings: list[Reading], still: Reading, theirs: Cost) -> list[Result]:
    moving = _typical(readings[-MOVING:])
    first, queues = readings[0], f"{still['queues']:,} queues: "
    what = (
        f"{size.groups:,} groups × {size.topics_per_group} of {size.topics:,} topics × {size.queues} queues × 2 brokers"
    )
    cost = f"{still['calls']} calls, {still['bytes']:,} bytes"
    members = still["members"]
    sweep = f"members apart: {members['groups_read']} groups, {members['calls']} calls, {members['seconds']:.2f} s"
    rows = [
        ("reading, wire and parsing", still["seconds"], f"{what}; {cost}"),
        ("reading and storing, nothing moved", _stored(still), sweep),
        ("reading and storing, one in ten moved", _stored(moving), f"{moving['moved']:,} offsets committed before"),
        ("first reading, storing every row", _stored(first), f"{first['calls']} calls, with configuration"),
    ]
    beside = "mqadmin consumerProgress"
    lines = [_line(queues + name, ours, "s", beside, theirs.seconds, note) for name, ours, note in rows]
    cpu = _line(f"{queues}CPU of the brokers", still["broker_cpu"], "s", beside, theirs.broker_cpu, "members included")
    peak = max(reading["memory_mib"] for reading in readings)
    memory = _line(f"{queues}memory of the poll", peak, "MiB", "what it may take", MEMORY_MIB, "the most it ever held")
    return [*lines, cpu, memory]


def _line(name: str, ours: float, unit: str, beside: str, value: float, note: str) -> Result:
    return Result(name, ours, unit, beside, value, value / ours if ours else float("inf"), note)


def _stored(reading: Reading) -> float:
    return float(reading["seconds"] + reading["record_seconds"])


def _typical(readings: list[Reading]) -> Reading:
    """The reading in the middle by reading and storing, with the middle of the CPU, which has ticks of 10 ms."""
    ordered = sorted(readings, key=_stored)
    return {**ordered[len(ordered) // 2], "broker_cpu": median(reading["broker_cpu"] for reading in readings)}


def _our_readings(cluster: RocketMQ, size: Size, home: Path) -> list[Reading]:
    brokers = {broker.address: broker.pid for broker in cluster.brokers.values() if broker.pid is not None}
    plan = Plan(cluster.namesrv, brokers, size, MESSAGES, UNTIL_STEADY[size] + STILL, MOVING)
    environ = {"CONSUMERSCOPE_HOME": str(home), "DATABASE_URL": "", "REDIS_URL": f"unix://{home}/none.sock"}
    output = python("tests.bench.polling.read_cluster", json.dumps(asdict(plan)), **environ)
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def _cost_of_mqadmin(cluster: RocketMQ, size: Size) -> Cost:
    pids = [broker.pid for broker in cluster.brokers.values() if broker.pid is not None]
    cpu, began = cpu_seconds(pids), time.perf_counter()
    output = cluster.mqadmin("consumerProgress", timeout=MQADMIN_SECONDS)
    cost = Cost(time.perf_counter() - began, cpu_seconds(pids) - cpu)
    _check(output, size)
    return cost


def _check(output: str, size: Size) -> None:
    listed = output.count("bench-group-")
    if listed < size.groups:
        raise SystemExit(f"mqadmin listed {listed} of {size.groups} groups: its time says nothing.")
