"""A sweep over the members of every group, and a slice of their clients, beside the same calls with nothing parsed."""

import json
import subprocess
import sys
import tempfile
from statistics import median
from typing import Any

from tests.bench.processes import PROJECT, python
from tests.bench.result import Result

GROUPS, HALF, MEMBERS, BROKERS = 2000, 1000, 10, 2
GOAL_SECONDS, MEMORY_MIB = 5.0, 200.0
BARE = "bare sockets, nothing parsed"

Reading = dict[str, Any]


def run(groups: int = GROUPS, half: int = HALF, members: int = MEMBERS) -> list[Result]:
    whole, most = measured(groups, members)
    less, _ = measured(half, members)
    size = f"{groups:,} groups × {members} members × {BROKERS} brokers: "
    calls = whole["calls"] - whole["clients_asked"]
    swept = (
        f"{calls:,.0f} calls; both rounds {whole['bytes']:,.0f} bytes; at most {max(most)} calls at a broker at a time"
    )
    each = [
        1e6 * (one["sweep_seconds"] + one["rows_seconds"]) / count for one, count in ((whole, groups), (less, half))
    ]
    spent = f"{whole['cpu_seconds']:.2f} s of CPU in both rounds, on a machine that may have had more to do"
    lines = [
        (size + "sweep", whole["sweep_seconds"], "s", BARE, whole["bare_sweep_seconds"], swept),
        (size + "sweep, and its goal", whole["sweep_seconds"], "s", "the goal", GOAL_SECONDS, spent),
        (
            f"{whole['clients_asked']:.0f} clients of whole groups",
            whole["running_info_seconds"],
            "s",
            BARE,
            whole["bare_running_info_seconds"],
            "",
        ),
        (size + "what the rows know", whole["rows_seconds"], "s", "the sweep", whole["sweep_seconds"], ""),
        ("rows and sweep, for each group", each[0], "µs", f"the same at {half:,} groups", each[1], ""),
        (
            size + "memory",
            whole["memory_mib"],
            "MiB",
            "what it may take",
            MEMORY_MIB,
            "growth within a reading, at most",
        ),
    ]
    return [Result(*line[:5], line[4] / line[1] if line[1] else float("inf"), line[5]) for line in lines]


def measured(groups: int, members: int) -> tuple[Reading, list[int]]:
    """The reading in the middle, the first one left out, and how many calls each broker held at most."""
    words = [str(groups), str(members)]
    broker = [sys.executable, "-m", "tests.bench.polling.members_broker", *words, str(BROKERS)]
    with (
        tempfile.TemporaryDirectory(prefix="bench-") as home,
        subprocess.Popen(broker, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdout is not None
        # Its input ends with this block, however that ends, and with it the process.
        addresses = json.loads(process.stdout.readline())
        environ = {"CONSUMERSCOPE_HOME": home, "DATABASE_URL": "", "REDIS_URL": f"unix://{home}/none.sock"}
        try:
            output = python("tests.bench.polling.read_members", *words, *addresses, **environ)
        finally:
            told, _ = process.communicate("")
    readings = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    for reading in readings:
        if reading["members"] != groups * members:
            raise SystemExit(f"{reading['members']:,} of {groups * members:,} members were listed: times say nothing.")
    later = readings[1:] or readings
    middle = {name: float(median(reading[name] for reading in later)) for name in later[0]}
    # Of memory the most counts, and the first reading takes it.
    return middle | {"memory_mib": max(reading["memory_mib"] for reading in readings)}, json.loads(told)
