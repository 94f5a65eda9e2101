"""The server's time for every page, part and figure of a large site, on SQLite and on PostgreSQL, beside the goal."""

import json
import tempfile
from typing import Any

from tests.bench.processes import python
from tests.bench.result import Result
from tests.plugins.postgres import postgres_url

GROUPS, QUEUES = 10_000, 4
GOAL_MILLISECONDS, GOAL_KB = 100.0, 150.0
# Of a hundred pages so many may take longer.
SHARE = 0.95
NAMED = 5


def run(groups: int = GROUPS, queues: int = QUEUES) -> list[Result]:
    size = f"{groups:,} groups × {queues} queues, "
    with postgres_url() as postgres:
        return [
            result
            for name, url in (("SQLite", ""), ("PostgreSQL", postgres))
            for result in results(_opened(groups, queues, url), f"{size}{name}: ")
        ]


def _opened(groups: int, queues: int, url: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        environ = {"CONSUMERSCOPE_HOME": home, "DATABASE_URL": url, "REDIS_URL": f"unix://{home}/none.sock"}
        said = python("tests.bench.pages.page_times", str(groups), str(queues), **environ)
    told: dict[str, Any] = json.loads(said.splitlines()[-1])
    return told


def results(told: dict[str, Any], size: str) -> list[Result]:
    """`told`: seconds and bytes by address."""
    if len(told) < NAMED:
        raise SystemExit(f"{len(told)} pages answered: next to nothing was opened, so the times say nothing.")
    slowest = sorted(told, key=lambda address: -told[address]["seconds"])
    largest = max(told, key=lambda address: told[address]["bytes"])
    late = told[slowest[int(len(slowest) * (1 - SHARE))]]["seconds"] * 1000
    weight = told[largest]["bytes"] / 1000
    note = ", ".join(f"{address} {told[address]['seconds'] * 1000:.0f}" for address in slowest[:NAMED])
    return [
        Result(f"{size}95 % of pages", late, "ms", "the goal", GOAL_MILLISECONDS, GOAL_MILLISECONDS / late, note),
        Result(f"{size}largest page", weight, "kB", "the goal", GOAL_KB, GOAL_KB / weight, largest),
    ]
