"""What rules would have done over a week: the first preview of a process and later ones, compared with the bare reading
of the columns that they look at."""

import json
import tempfile
from collections.abc import Sequence
from typing import Any

from tests.bench.processes import python
from tests.bench.result import Result

# By the minute, and by ten minutes: with more groups a week has too many minutes.
EXTENTS = ((100, 60), (1000, 600))
LIMIT_SECONDS = 60.0
FLOOR = "the same columns, bare"


def run(extents: Sequence[tuple[int, int]] = EXTENTS) -> list[Result]:
    lines = []
    for groups, step in extents:
        with tempfile.TemporaryDirectory(prefix="bench-") as home:
            environ = {"CONSUMERSCOPE_HOME": home, "DATABASE_URL": "", "REDIS_URL": f"unix://{home}/none.sock"}
            output = python("tests.bench.pipeline.preview_runs", str(groups), str(step), **environ)
        lines += _lines(json.loads(output.splitlines()[-1]), f"{groups:,} groups × 7 d")
    return lines


def _lines(told: dict[str, Any], size: str) -> list[Result]:
    lines = []
    for measure, one in told["warm"].items():
        if one["fired"] != told["expected"]:
            raise SystemExit(f"{measure}: {one['fired']} firings, not {told['expected']}: the time says nothing.")
        windows = f"{told['windows']:,} windows, one each {told['step']} s"
        note = f"{windows}; {one['fired']:,} firings; the process held {told['peak_mb']:,} MB at most"
        ours, floor = one["seconds"], one["floor"]
        lines.append(Result(f"{size}: {measure}", ours, "s", FLOOR, floor, floor / ours, note))
    cold = told["cold"]
    name = f"{size}: the first of a process"
    return [
        Result(name, cold, "s", "its limit", LIMIT_SECONDS, LIMIT_SECONDS / cold, "with all that it imports"),
        *lines,
    ]
