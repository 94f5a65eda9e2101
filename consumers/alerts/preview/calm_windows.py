"""Groups whose windows never hold, found and counted by the database: their windows are not read out of it."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import timedelta

from django.db.models import Case, Count, F, FloatField, Max, Q, QuerySet, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast

from consumers.alerts.measures.unknown import NO_LAG
from consumers.models import GroupWindow, Measure
from consumers.pipeline.kernel.group_windows import NOT_READ
from consumers.pipeline.kernel.trend import LONGEST_DRAIN_SECONDS
from consumers.pipeline.slices import microseconds

from .calm import Calm
from .days import DAY, day_number, days_of
from .expiry_values import kept_table
from .grid import Grid

# More than any threshold: how long it has not been known takes the windows before it to say.
SOME_TIME = 1e18


def _drain() -> Case:
    surplus = F("consume_rate") - F("produce_rate")
    takes_time = When(
        consume_rate__gt=F("produce_rate"),
        lag_messages__lte=surplus * LONGEST_DRAIN_SECONDS,
        then=Cast("lag_messages", FloatField()) / surplus,
    )
    return Case(When(lag_messages=0, then=0.0), takes_time, output_field=FloatField())


def _unknown() -> Case:
    is_known = Q(lag_messages__isnull=False) | Q(unknown_reason__in=NO_LAG)
    of_its_own = When(~Q(unknown_reason=NOT_READ), then=SOME_TIME)
    return Case(When(is_known, then=0.0), of_its_own, output_field=FloatField())


def _wait() -> Case:
    return Case(When(lag_messages=0, then=0.0), default=F("time_lag_seconds"), output_field=FloatField())


# The measures of which one window tells the value, as in group_values; of expiry how long the oldest message waits.
FIELDS: dict[Measure, Combinable] = {
    Measure.LAG: F("lag_messages"),
    Measure.TIME_LAG: F("time_lag_seconds"),
    Measure.DRAIN: _drain(),
    Measure.UNKNOWN: _unknown(),
    Measure.EXPIRY: _wait(),
}


def calm_windows(
    measure: Measure, thresholds: Mapping[int, float], places: Mapping[int, int], grid: Grid, named_at_once: int
) -> Calm:
    """Of those of `places`, by group id, that stay on the good side of their threshold, by place. One query for each
    day.

    Up to `named_at_once` groups are named in a statement; of more all windows are counted. So where more are calm, a
    moment at which only a group that the rule does not select is known counts as known too.
    """
    rows = GroupWindow.objects.filter(step_seconds=grid.step_seconds).order_by().alias(value=FIELDS[measure])
    if len(places) <= named_at_once:
        rows = rows.filter(group__in=list(places))
    if measure == Measure.EXPIRY:
        thresholds = _longest_waits(thresholds, places)
    known: Counter[int] = Counter()
    known_on: dict[int, dict[int, int]] = {}
    holding: set[int] = set()
    for day, of_day in _by_day(rows, grid):
        counted = known_on.setdefault(day, {})
        for group, count, most in of_day.values_list("group_id").annotate(Count("value"), Max("value")):
            if (place := places.get(group)) is None or not count:
                continue
            known[place] += count
            counted[place] = count
            if most > thresholds[place]:
                holding.add(place)
    known_rows = rows.filter(value__isnull=False)
    calm = [group for group, place in places.items() if known[place] and place not in holding]
    return Calm(
        # One of which nothing is known is calm too: there is nothing of it to read.
        {place: known[place] for place in places.values() if place not in holding},
        {
            day: sum(count for place, count in counted.items() if place not in holding)
            for day, counted in known_on.items()
        },
        _ends(known_rows.filter(group__in=calm) if len(calm) <= named_at_once else known_rows, grid)
        if calm
        else frozenset(),
    )


def _ends(rows: QuerySet[GroupWindow], grid: Grid) -> frozenset[int]:
    """Of windows, in microseconds since 1970."""
    found = (of_day.values_list("start", flat=True).distinct() for _, of_day in _by_day(rows, grid))
    return frozenset(microseconds(start) + grid.step_us for of_day in found for start in of_day)


def _longest_waits(thresholds: Mapping[int, float], places: Mapping[int, int]) -> dict[int, float]:
    """What may wait so long expires no sooner than the threshold. Where brokers do not agree on how long they keep
    messages none is short enough: what is known of these groups differs from window to window."""
    return {
        one["place"]: -1.0 if one["agreed"] is None else one["agreed"] - thresholds[one["place"]]
        for one in kept_table(places).to_pylist()
    }


def _by_day(rows: QuerySet[GroupWindow], grid: Grid) -> Iterator[tuple[int, QuerySet[GroupWindow]]]:
    """A window counts on the day of its end."""
    step = timedelta(seconds=grid.step_seconds)
    for begin in days_of(grid):
        since, until = max(grid.since, begin - step), min(grid.until, begin + DAY - step)
        yield day_number(begin), rows.filter(start__gte=since, start__lt=until)
