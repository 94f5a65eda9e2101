"""/metrics of a large site: the first scrape and later ones, beside rows of the same tables written by a bare loop."""

import json
import tempfile
from typing import Any

from tests.bench.processes import python
from tests.bench.result import Result

GROUPS, QUEUES = 10_000, 4
GOAL_SECONDS = 2.0
FLOOR = "the same rows, bare"


def run(groups: int = GROUPS, queues: int = QUEUES) -> list[Result]:
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        environ = {"CONSUMERSCOPE_HOME": home, "DATABASE_URL": "", "REDIS_URL": f"unix://{home}/none.sock"}
        told = json.loads(
            python("tests.bench.alerts.metrics_scrapes", str(groups), str(queues), **environ).splitlines()[-1]
        )
    return _results(told, f"{groups:,} groups × {queues} queues: ")


def _results(told: dict[str, Any], size: str) -> list[Result]:
    if told["lines"] < 100:
        raise SystemExit(f"{told['lines']} lines: next to nothing was scraped, so the times say nothing.")
    written = f"{told['lines']:,} lines, {told['text_mib']:.0f} MiB"
    times = [
        ("first scrape", told["first"], "the goal", GOAL_SECONDS, written),
        ("later scrape", told["warm"], FLOOR, told["floor"], "both sets of names"),
        ("first piece of it", told["warm_piece"], "all of it", told["warm"], ""),
    ]
    lines = [
        Result(size + name, ours, "s", beside, value, value / ours, note) for name, ours, beside, value, note in times
    ]
    held = told["mib"] - told["before_mib"]
    text = told["text_mib"]
    return [*lines, Result(size + "memory of a scrape", held, "MiB", "its text", text, text / held, "the most held")]
