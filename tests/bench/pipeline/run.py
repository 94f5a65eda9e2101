"""A whole run of the pipeline, from the lake's files to rows and files: of a site like the demo, and of a large one."""

import json
import tempfile
from typing import Any

from tests.bench.processes import python
from tests.bench.result import Result

# Groups, queues of each.
DEMO, LARGE, LARGEST = (7, 7), (4_000, 80), (12_500, 80)
GOALS = {
    DEMO: {"seconds": 1.0, "cpu_seconds": 1.5},
    LARGE: {"seconds": 10.0, "memory_mib": 2048.0},
    LARGEST: {"seconds": 15.0, "memory_mib": 4096.0},
}
UNITS = {"seconds": "s", "cpu_seconds": "s", "memory_mib": "MiB"}
NAMES = {"seconds": "a warm run", "cpu_seconds": "its CPU", "memory_mib": "the most memory, Java and tasks included"}


def run() -> list[Result]:
    return [line for size in GOALS for line in _results(size, _measured(*size))]


def _measured(groups: int, queues: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        environ = {"CONSUMERSCOPE_HOME": home, "DATABASE_URL": "", "REDIS_URL": f"unix://{home}/none.sock"}
        answer = python("tests.bench.pipeline.pipeline_runs", str(groups), str(queues), **environ)
    measured: dict[str, Any] = json.loads(answer.splitlines()[-1])
    if measured["queues"] != groups * queues:
        raise SystemExit(f"{measured['queues']} queues were evaluated, not {groups * queues}: the times say nothing.")
    return measured


def _results(size: tuple[int, int], measured: dict[str, Any]) -> list[Result]:
    what = f"{size[0] * size[1]:,} queues of {size[0]:,} groups: "
    longest = f"the longest {measured['most_seconds']:.1f} s"
    note = f"the mean of {measured['runs']} runs of two readings, {longest}; {measured['states']}"
    return [
        Result(what + NAMES[name], measured[name], UNITS[name], "the goal", goal, goal / measured[name], note)
        for name, goal in GOALS[size].items()
    ]
