"""Rebalances of a run: of few groups among many, and of a small site, beside DuckDB that only reads the same rows."""

import json
import tempfile
from typing import Any

from tests.bench.processes import python
from tests.bench.result import Result

# Groups, and how many of them changed.
SITES = ((2_000, 20), (2_000, 200), (7, 2))
FLOOR = "DuckDB, the same rows read"


def run(sites: tuple[tuple[int, int], ...] = SITES) -> list[Result]:
    return [_line(_measured(groups, changed), groups, changed) for groups, changed in sites]


def _measured(groups: int, changed: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        environ = {"CONSUMERSCOPE_HOME": home, "DATABASE_URL": "", "REDIS_URL": f"unix://{home}/none.sock"}
        output = python("tests.bench.pipeline.rebalance_run", str(groups), str(changed), **environ)
    measured: dict[str, Any] = json.loads(output.splitlines()[-1])
    return measured


def _line(measured: dict[str, Any], groups: int, changed: int) -> Result:
    if measured["rebalances"] != changed or measured["moved"] != changed:
        raise SystemExit(f"{measured}: not every group that changed has its rebalance, so the time says nothing.")
    ours, floor = measured["seconds"], measured["floor"]
    note = f"{measured['cpu']:.2f} s of CPU; beside: {measured['rows']:,} rows of {measured['files']:,} files"
    return Result(f"{groups:,} groups, {changed:,} changed", ours, "s", FLOOR, floor, floor / ours, note)
