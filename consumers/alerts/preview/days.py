"""What a preview found day by day, in UTC: how often the rule would have fired, and how much is not known."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.utils.translation import gettext as _

from consumers.pipeline.slices import EPOCH

from .grid import Grid

DAY = timedelta(days=1)
DAY_US = 86_400_000_000
LATER = timedelta(microseconds=1)


def per_day(
    grid: Grid,
    fired: Iterable[tuple[datetime, bool]],
    first_seen: Sequence[datetime | None],
    known: Mapping[int, int],
) -> list[dict[str, Any]]:
    """[{day, fired, fired_left_alone, unknown_share, unknown}], every day of the range, also those on which nothing
    fired.

    `fired`: when, and whether of a group that is left alone. `known`: how many moments of any subject were known on
    a day, by its number.
    """
    counted = Counter((at.date(), is_alone) for at, is_alone in fired)
    begins = Counter(None if at is None or at <= grid.since else at for at in first_seen)
    found = []
    for begin in days_of(grid):
        there = sum(count * grid.moments_between(_later(begin, at), begin + DAY) for at, count in begins.items())
        seen = min(known.get(day_number(begin), 0), there)
        found.append(
            {
                "day": begin.date().isoformat(),
                "fired": counted[begin.date(), False] + counted[begin.date(), True],
                "fired_left_alone": counted[begin.date(), True],
                "unknown_share": 1 - seen / there if there else None,
                "unknown": {} if there else {"unknown_share": _("there was nothing to look at")},
            }
        )
    return found


def days_of(grid: Grid) -> list[datetime]:
    """Their beginnings: of every day that has a moment."""
    if not grid.count:
        return []
    first, last = (grid.since + timedelta(seconds=grid.step_seconds)).date(), grid.until.date()
    return [datetime.combine(first, time(), UTC) + number * DAY for number in range((last - first).days + 1)]


def day_number(begin: datetime) -> int:
    """Days since 1970."""
    return (begin - EPOCH) // DAY


def _later(begin: datetime, first_seen: datetime | None) -> datetime:
    return begin if first_seen is None else max(begin, first_seen + LATER)
