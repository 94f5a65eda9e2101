"""A backfill of 24 hours: every window and the states at its end made anew from a lake of compacted hours."""

import json
import tempfile

from tests.bench.processes import python
from tests.bench.result import Result

GROUPS, QUEUES, HOURS = 400, 80, 24
GOAL_SECONDS = 600.0


def run() -> list[Result]:
    with tempfile.TemporaryDirectory(prefix="bench-") as home:
        environ = {"CONSUMERSCOPE_HOME": home, "DATABASE_URL": "", "REDIS_URL": f"unix://{home}/none.sock"}
        answer = python("tests.bench.pipeline.backfill_run", str(GROUPS), str(QUEUES), str(HOURS), **environ)
    measured = json.loads(answer.splitlines()[-1])
    note = (
        f"{measured['readings']:,} readings, {measured['windows']:,} windows; CPU {measured['cpu_seconds']:.0f} s, "
        f"at most {measured['memory_mib']:,.0f} MiB; "
        f"reading the same files with DuckDB, one sum a group: {measured['floor_seconds']:.0f} s"
    )
    seconds = measured["seconds"]
    what = f"backfill of {HOURS} h, {GROUPS * QUEUES:,} queues"
    return [Result(what, seconds, "s", "the goal", GOAL_SECONDS, GOAL_SECONDS / seconds, note)]
