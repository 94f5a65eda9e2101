"""A group's charts out of the stored history, beside DuckDB asking the same files for the same rows."""

import json
import tempfile
from pathlib import Path

from tests.bench.pipeline.history_lake import Extent
from tests.bench.processes import python
from tests.bench.result import Result

EXTENT = Extent(groups=500, queues=64)


def run(extent: Extent = EXTENT) -> list[Result]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        environ = {
            "CONSUMERSCOPE_HOME": folder,
            "CONSUMERSCOPE_LAKE": str(Path(folder) / "lake"),
            "DATABASE_URL": "",
            "REDIS_URL": f"unix://{folder}/none.sock",
        }
        output = python("tests.bench.pipeline.read_history", str(extent.groups), str(extent.queues), **environ)
    charts = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    return [_line(extent, chart) for chart in charts]


def _line(extent: Extent, chart: dict[str, float | str]) -> Result:
    ours, beside = float(chart["ours"]), float(chart["duckdb"])
    size = f"{chart['rows']:,} rows, {float(chart['bytes']) / 2**20:,.0f} MiB"
    note = f"of {extent.groups} groups × {extent.queues} queues: {size}; {chart['files']} files asked"
    name = f"a group's chart over {chart['span']}, by {chart['by']}"
    return Result(name, ours * 1e3, "ms", "DuckDB, same files", beside * 1e3, beside / ours, note)
