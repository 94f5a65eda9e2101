"""Every rule evaluated over every group: with nothing to tell, and with many incidents that open and end at once."""

import json
import tempfile
from typing import Any

from tests.bench.alerts.alert_rounds import INCIDENTS
from tests.bench.processes import python
from tests.bench.result import Result

GROUPS, QUEUES, RULES, CHANGES = 10_000, 4, 20, 500
GOAL_SECONDS, PAGE_SECONDS = 5.0, 0.1
FLOOR = "the groups' rows read once"


def run(groups: int = GROUPS, queues: int = QUEUES, rules: int = RULES, changes: int = CHANGES) -> list[Result]:
    words = [str(number) for number in (groups, queues, rules, changes)]
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        environ = {"CONSUMERSCOPE_HOME": home, "DATABASE_URL": "", "REDIS_URL": f"unix://{home}/none.sock"}
        told = json.loads(python("tests.bench.alerts.alert_rounds", *words, **environ).splitlines()[-1])
    _check(told, changes)
    size = f"{groups:,} groups × {rules} rules: "
    found = f"{told['incidents']:,} incidents in {told['deliveries']:,} messages"
    lines = [
        (size + "calm", told["calm"], FLOOR, told["floor"], ""),
        (size + "calm, and its goal", told["calm"], "the goal", GOAL_SECONDS, ""),
        (size + f"{changes:,} begin", told["begin"], "the goal", GOAL_SECONDS, found),
        (size + "they go on", told["go on"], FLOOR, told["floor"], ""),
        (size + "they end", told["end"], "the goal", GOAL_SECONDS, ""),
        (f"a page of {INCIDENTS:,} incidents, in any order", told["page"], "the goal", PAGE_SECONDS, ""),
    ]
    return [Result(name, ours, "s", beside, value, value / ours, note) for name, ours, beside, value, note in lines]


def _check(told: dict[str, Any], changes: int) -> None:
    if told["incidents"] < changes or told["open"] or told["events"] < 2 * told["incidents"]:
        raise SystemExit(f"{told}: not every group that was behind was told, so the times say nothing.")
