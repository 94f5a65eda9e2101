"""Run as `python -m tests.bench.pipeline.preview_runs GROUPS STEP_SECONDS`: previews of rules over a week of as many
groups, in a database of its own. Prints, as a line of JSON, seconds of the first and of later ones, of the bare
reading, and the peak of memory."""

import json
import os
import resource
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")
DAYS, TIMES = 7, 3
# One group in so many is behind for an hour each day.
BEHIND_EACH = 50
WELL: dict[str, Any] = {"lag_messages": 10, "time_lag_seconds": 2.0}
BEHIND: dict[str, Any] = {"lag_messages": 100_000, "time_lag_seconds": 1200.0}
RATES = {"consume_rate": 10.0, "produce_rate": 5.0}
# The columns of windows that a measure looks at, and what is too much of it.
RULES: dict[str, tuple[tuple[str, ...], float]] = {
    "time_lag_seconds": (("time_lag_seconds",), 600.0),
    "drain_seconds": (("lag_messages", "consume_rate", "produce_rate"), 3600.0),
}


def main(groups: int, step: int) -> None:
    from django.core.management import call_command
    from django.db import connections

    from consumers.models import ConsumerGroup
    from tests.bench.site_rows import fill

    call_command("migrate", verbosity=0)
    now = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    fill(groups, 1, now)
    keys = list(ConsumerGroup.objects.order_by("pk").values_list("pk", flat=True))
    windows = _write_windows(keys, step, now)
    connections.close_all()
    told: dict[str, Any] = {"windows": windows, "step": step, "expected": len(keys[::BEHIND_EACH]) * DAYS}
    # As of a worker just begun.
    told["cold"] = _previewed("time_lag_seconds", now)[0]
    told["warm"] = {}
    for measure, (columns, _) in RULES.items():
        runs = [_previewed(measure, now) for _ in range(TIMES)]
        floor = median(_bare_reading(columns, step) for _ in range(TIMES))
        told["warm"][measure] = {"seconds": median(run[0] for run in runs), "fired": runs[0][1], "floor": floor}
    told["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(told), flush=True)


def _previewed(measure: str, now: datetime) -> tuple[float, int]:
    """Seconds, as the worker counts them, and how often the rule would have fired."""
    from consumers.alerts.preview.work import work_on
    from consumers.models import RulePreview

    rule = {"name": "", "measure": measure, "comparison": "above", "threshold": RULES[measure][1]}
    rule |= {"severity": "warning", "for_seconds": 600.0, "clear_seconds": 300.0}
    row = RulePreview.objects.create(
        rule=rule, since=now - timedelta(days=DAYS), until=now, status="waiting", created_at=now
    )
    work_on(row.pk, lambda: now)
    row.refresh_from_db()
    if row.seconds is None or row.result is None:
        raise SystemExit(f"A preview of {measure} was not answered: {row.error}")
    return row.seconds, row.result["fired"]


def _bare_reading(columns: tuple[str, ...], step: int) -> float:
    from django.db import connection

    began = time.perf_counter()
    with connection.cursor() as cursor:
        # No more than names of this file are put into it.
        cursor.execute(
            f"select group_id, start, {', '.join(columns)} from consumers_groupwindow where step_seconds = %s",
            [step],
        )
        while cursor.fetchmany(10_000):
            pass
    return time.perf_counter() - began


def _write_windows(keys: list[int], step: int, now: datetime) -> int:
    """A week of every group, in the order in which the pipeline writes them. Returns how many there are."""
    from consumers.models import GroupWindow
    from consumers.polling.record.keyed_rows import upsert

    count, of_hour = DAYS * 86400 // step, 3600 // step
    starts = [now - timedelta(seconds=step * (count - number)) for number in range(count)]
    of_day = count // DAYS
    is_noon = [of_day // 2 <= number % of_day < of_day // 2 + of_hour for number in range(count)]
    lates = [number % BEHIND_EACH == 0 for number in range(len(keys))]
    # As the database keeps a document: upsert knows none.
    fixed: dict[str, Any] = {**RATES, "volumes_unknown": "{}", "step_seconds": step, "readings": 4}
    same = {name: [value] * len(keys) for name, value in fixed.items()}
    for start, late in zip(starts, is_noon, strict=True):
        held = {name: [BEHIND[name] if late and mine else value for mine in lates] for name, value in WELL.items()}
        columns: dict[str, Sequence[Any]] = {"group": keys, "start": [start] * len(keys), **same, **held}
        upsert(GroupWindow, ["group", "step_seconds", "start"], columns)
    return count * len(keys)


if __name__ == "__main__":
    django.setup()
    main(*map(int, sys.argv[1:]))
