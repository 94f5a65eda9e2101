"""Windows of a time range: which ones it has, and those that are stored."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings
from django.utils.translation import gettext

from consumers.lake.one_group import read_group
from consumers.lake.schemas import TIME, WINDOWS
from consumers.lake.store import Lake
from consumers.models import DueWindow, GroupWindow
from consumers.pipeline.kernel.group_windows import wide_windows
from consumers.pipeline.upkeep import DAY_SECONDS, FINER, HOUR_SECONDS, STEPS, retentions
from consumers.pipeline.volumes import FIELDS, joined_windows
from consumers.queries.limits import limits
from consumers.words.marks import chained, listed
from consumers.words.spans import chosen

# The windows of a stretch of time.
HOURS_IN_MINUTES = timedelta(hours=6)

DAYS_IN_TEN_MINUTES = timedelta(days=7)

DAYS_IN_HOURS = timedelta(days=92)

MOST_WINDOWS = 11_000

# The windows that the pipeline has not come to yet: one that is open, and one that closed while it ran.
OPEN_WINDOWS = 2


class RangeError(ValueError):
    """A range or step that no history can be shown for. `parameter`: which of the two."""

    parameter = "from"


@dataclass(frozen=True)
class WindowRange:
    """Windows of `step_seconds` from `start` (a multiple of the step since 1970) on; the last one holds `until`."""

    start: datetime
    step_seconds: int
    count: int

    @property
    def until(self) -> datetime:
        return self.start + timedelta(seconds=self.step_seconds * self.count)

    @cached_property
    def starts(self) -> list[datetime]:
        return [self.start + timedelta(seconds=self.step_seconds * number) for number in range(self.count)]

    def index(self, at: datetime) -> int:
        return int((at - self.start).total_seconds() // self.step_seconds)

    def complete_until(self, done: datetime | None, known: Iterable[int] = ()) -> int:
        """How many windows were aggregated to their end: by a pipeline that is `done` up to then, and all before the
        newest of the `known` ones, as the pipeline goes through time in order."""
        ended = 0 if done is None else min(max(self.index(done), 0), self.count)
        return max(ended, max(known, default=0))


class TooManyPoints(RangeError):
    """str() is one sentence, with what would fit."""

    parameter = "step"


def window_range(
    since: datetime,
    until: datetime,
    step_seconds: int | None = None,
    *,
    queues: int = 1,
    now: datetime | None = None,
) -> WindowRange:
    """Raises RangeError where the range is empty, or has more windows, of so many queues, than HISTORY_POINTS.

    Without a step: the shortest that is usual for such a length, fits, and is kept at `now` since the range begins."""
    if since >= until:
        raise RangeError(gettext("The range is empty: 'from' must be before 'to'."))
    if step_seconds is None:
        usual = max(step_for(until - since), finest_retained(since, now or until))
        longer = [step for step in STEPS if step >= usual]
        step_seconds = next((step for step in longer if _points(since, until, step, queues) <= _most()), longer[-1])
    if step_seconds not in STEPS:
        raise RangeError(
            gettext("The step must be one of %(steps)s seconds, not %(step_seconds)s.")
            % {"step_seconds": step_seconds, "steps": listed(map(str, STEPS))}
        )
    first, count = _windows(since, until, step_seconds)
    if count > MOST_WINDOWS:
        raise RangeError(
            gettext(
                "The range has %(count)s windows of %(step_seconds)s s; the maximum is %(most)s. Use a longer step."
            )
            % {"step_seconds": step_seconds, "count": f"{count:,}", "most": f"{MOST_WINDOWS:,}"}
        )
    windows = WindowRange(datetime.fromtimestamp(first * step_seconds, UTC), step_seconds, count)
    refuse_too_many(windows, queues)
    return windows


def refuse_too_many(windows: WindowRange, queues: int) -> None:
    """Raises TooManyPoints where so many queues have more points over these windows than are answered at once."""
    points, most = queues * windows.count, _most()
    if points <= most:
        return
    fits = []
    for step in STEPS:
        if step > windows.step_seconds and queues * -(-windows.count * windows.step_seconds // step) <= most:
            fits.append(gettext("use a step of %(step)s s") % {"step": step})
            break
    if most // queues:
        fits.append(
            gettext("use a range of at most %(span)s") % {"span": chosen(most // queues * windows.step_seconds)}
        )
    if most // windows.count and queues > 1:
        fits.append(gettext("name at most %(queues)s queues") % {"queues": f"{most // windows.count:,}"})
    words = {
        "queues": f"{queues:,}",
        "windows": f"{windows.count:,}",
        "step": windows.step_seconds,
        "points": f"{points:,}",
        "most": f"{most:,}",
        "fits": chained(fits),
    }
    why = gettext(
        "%(queues)s queues × %(windows)s windows of %(step)s s are %(points)s points; the maximum is %(most)s "
        "(HISTORY_POINTS). Do one of these: %(fits)s."
    )
    raise TooManyPoints(why % words)


def _most() -> int:
    most: int = settings.HISTORY_POINTS
    return most


def _windows(since: datetime, until: datetime, step: int) -> tuple[int, int]:
    """The number of the first one since 1970, and how many there are."""
    first = int(since.timestamp() // step)
    return first, -int(-until.timestamp() // step) - first


def _points(since: datetime, until: datetime, step: int, queues: int) -> int:
    return _windows(since, until, step)[1] * queues


def step_for(length: timedelta) -> int:
    if length <= HOURS_IN_MINUTES:
        return 60
    if length <= DAYS_IN_TEN_MINUTES:
        return 600
    return 3600 if length <= DAYS_IN_HOURS else 86400


def finest_retained(at: datetime, now: datetime) -> int:
    """The step of the finest windows of that time that are kept still; where none are, the widest."""
    return next((step for step in STEPS if at >= now - retained_long(step)), STEPS[-1])


def retained_long(step_seconds: int) -> timedelta:
    return retentions()[f"windows_{step_seconds}"]


# Windows of groups and queues as they are stored; hours and days that upkeep has not made yet, merged from finer
# ones.
#
# So a page sees the hour that has just ended, and the day that is not over, as far as they are known.
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
    hours.sort(key=lambda row: (row["group_id"], row["start"]))
    parts = {name: [hour[name] for hour in hours] for name in ("group_id", "start", *FIELDS)}
    days = joined_windows(parts, HOUR_SECONDS, DAY_SECONDS, reach)
    rows_of_days = (dict(zip(days, values, strict=True)) for values in zip(*days.values(), strict=True))
    merged = {(day["group_id"], day["start"]): day for day in rows_of_days}
    made = {(row["group_id"], row["start"]): row for row in rows}
    return list((made | {key: day for key, day in merged.items() if key in due}).values())


def _rows(
    groups: Collection[int], step: int, since: datetime, until: datetime, fields: Sequence[str]
) -> list[dict[str, Any]]:
    found = GroupWindow.objects.filter(group__in=groups, step_seconds=step, start__gte=since, start__lt=until)
    return list(found.order_by("start").values("group_id", "start", *fields))
