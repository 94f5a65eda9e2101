"""Windows of groups and queues as they are stored; hours and days that upkeep has not made yet, merged from finer ones.

So a page sees the hour that has just ended, and the day that is not over, as far as they are known.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from consumers.lake.one_group import read_group
from consumers.lake.schemas import TIME, WINDOWS
from consumers.lake.store import Lake
from consumers.models import DueWindow, GroupWindow
from consumers.pipeline.kernel.wide_windows import wide_windows
from consumers.pipeline.volumes.joined import FIELDS, joined_windows
from consumers.pipeline.wider import DAY_SECONDS, FINER, HOUR_SECONDS
from consumers.selectors.limits import limits

from .window_range import WindowRange


def stored_queue_windows(
    lake: Lake,
    cluster: str,
    group: str,
    step_seconds: int,
    span: tuple[datetime, datetime],
    columns: Sequence[str],
    *,
    equal: Mapping[str, object],
    most_rows: int,
) -> pa.Table:
    """As `read_group` gives them, and as TooManyRows is raised there."""

    def read(step: int, span: tuple[datetime, datetime], names: Sequence[str], most: int) -> pa.Table:
        return read_group(lake, f"windows_{step}", cluster, group, *span, names, equal=equal, most_rows=most)

    def found(step: int, span: tuple[datetime, datetime], names: Sequence[str], most: int) -> pa.Table:
        due = _due(cluster, step, span) if step in FINER else []
        stored = read(step, span, names, most)
        if not due:
            return stored
        of_due = (due[0], due[-1] + timedelta(seconds=step))
        wide = wide_windows(found(FINER[step], of_due, WINDOWS.names, most * (step // FINER[step])), step)
        wide = wide.filter(pc.is_in(wide["start"], value_set=pa.array(due, TIME)))
        # Where no finer one is kept any more, what was made of them stays.
        others = stored.filter(pc.invert(pc.is_in(stored["start"], value_set=pc.unique(wide["start"]))))
        return pa.concat_tables([others, wide.select(list(names)).cast(stored.schema)])

    return found(step_seconds, span, columns, most_rows)


def _due(cluster: str, step: int, span: tuple[datetime, datetime]) -> list[datetime]:
    rows = DueWindow.objects.filter(cluster__name=cluster, step_seconds=step, start__gte=span[0], start__lt=span[1])
    return list(rows.order_by("start").values_list("start", flat=True))


def stored_group_windows(groups: Collection[int], windows: WindowRange, fields: Sequence[str]) -> list[dict[str, Any]]:
    """group_id, start and these of FIELDS, of the windows of the range that there are. One query; two more for days."""
    rows = _rows(groups, windows.step_seconds, windows.start, windows.until, fields)
    if windows.step_seconds != DAY_SECONDS:
        # Those of an hour come from each run.
        return rows
    due = set(
        DueWindow.objects.filter(
            cluster__groups__in=groups, step_seconds=DAY_SECONDS, start__gte=windows.start, start__lt=windows.until
        ).values_list("cluster__groups", "start")
    )
    if not due:
        return rows
    first, last = (choose(start for _group, start in due) for choose in (min, max))
    hours = _rows(groups, HOUR_SECONDS, first, last + timedelta(seconds=DAY_SECONDS), FIELDS)
    reach = timedelta(seconds=limits().late_seconds)
    days = joined_windows(hours, HOUR_SECONDS, DAY_SECONDS, reach)
    merged = {(day["group_id"], day["start"]): day for day in days}
    made = {(row["group_id"], row["start"]): row for row in rows}
    return list((made | {key: day for key, day in merged.items() if key in due}).values())


def _rows(
    groups: Collection[int], step: int, since: datetime, until: datetime, fields: Sequence[str]
) -> list[dict[str, Any]]:
    found = GroupWindow.objects.filter(group__in=groups, step_seconds=step, start__gte=since, start__lt=until)
    return list(found.order_by("start").values("group_id", "start", *fields))
