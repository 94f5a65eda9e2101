"""Groups whose windows never hold, found and counted by the database: their windows are not read out of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta

from django.db.models import Count, Max, QuerySet

from consumers.models import GroupWindow, Measure

from .calm import Calm
from .days import DAY, day_number, days_of
from .grid import Grid

# The measures that a window holds as they are, and that only too much of is told.
FIELDS = {Measure.LAG: "lag_messages", Measure.TIME_LAG: "time_lag_seconds"}


def calm_windows(
    measure: Measure, thresholds: Mapping[int, float], places: Mapping[int, int], grid: Grid, named_at_once: int
) -> Calm:
    """Of those of `places`, by group id, that stay at or below their threshold, by place. One query for each day.

    Up to `named_at_once` groups are named in the statement; of more all windows are counted.
    """
    name = FIELDS[measure]
    rows = GroupWindow.objects.filter(step_seconds=grid.step_seconds).order_by()
    if len(places) <= named_at_once:
        rows = rows.filter(group__in=list(places))
    known: Counter[int] = Counter()
    known_on: dict[int, dict[int, int]] = {}
    holding: set[int] = set()
    for day, of_day in _by_day(rows, grid):
        counted = known_on.setdefault(day, {})
        for group, count, most in of_day.values_list("group_id").annotate(Count(name), Max(name)):
            if (place := places.get(group)) is None or not count:
                continue
            known[place] += count
            counted[place] = count
            if most > thresholds[place]:
                holding.add(place)
    return Calm(
        # One of which nothing is known is calm too: there is nothing of it to read.
        {place: known[place] for place in places.values() if place not in holding},
        {
            day: sum(count for place, count in counted.items() if place not in holding)
            for day, counted in known_on.items()
        },
    )


def _by_day(rows: QuerySet[GroupWindow], grid: Grid) -> Iterator[tuple[int, QuerySet[GroupWindow]]]:
    """A window counts on the day of its end."""
    step = timedelta(seconds=grid.step_seconds)
    for begin in days_of(grid):
        since, until = max(grid.since, begin - step), min(grid.until, begin + DAY - step)
        yield day_number(begin), rows.filter(start__gte=since, start__lt=until)
