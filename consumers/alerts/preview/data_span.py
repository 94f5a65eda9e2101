"""For how much of a range a preview had data, of whichever subject and of one: an end of data is no end of trouble."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from consumers.pipeline.slices import microseconds

from .grid import MICROSECOND, Grid, moment

# A value that comes and goes for days has more: then the longest are kept.
SPANS_AT_MOST = 200
Span = tuple[datetime, datetime]


def data_span(grid: Grid, known_at: Collection[int]) -> dict[str, Any]:
    """{known_from, known_to, known_seconds, unknown_seconds, unknown_spans, unknown}.

    `known_at`: the moments of the grid at which anything was known. Each stands for the step before it.
    """
    moments = sorted(known_at)
    nothing = _("there is no data in the range")
    spans = unknown_spans(grid, map(moment, moments), None) if grid.count else []
    return {
        "known_from": said(moment(moments[0]) - grid.step) if moments else None,
        "known_to": said(moment(moments[-1])) if moments else None,
        "known_seconds": len(moments) * grid.step_seconds,
        "unknown_seconds": (grid.count - len(moments)) * grid.step_seconds,
        "unknown_spans": [{"from": said(begin), "to": said(end)} for begin, end in spans],
        "unknown": {} if moments else {"known_from": nothing, "known_to": nothing},
    }


def unknown_share_in_data(
    known: Sequence[int], first_seen: Sequence[datetime | None], known_at: Collection[int]
) -> float | None:
    """The share of values that are not known at moments at which others are: null where there is no such moment.

    `known`: of each subject, how many of its values are.
    """
    moments = sorted(known_at)
    there = [
        len(moments) - (0 if first is None else bisect_right(moments, microseconds(first))) for first in first_seen
    ]
    seen = sum(min(count, most) for count, most in zip(known, there, strict=True))
    return 1 - seen / sum(there) if sum(there) else None


def unknown_spans(grid: Grid, known: Iterable[datetime], first_seen: datetime | None) -> list[Span]:
    """[from, to) of each, in order. `known`: the moments of the grid, in order; each stands for the step before it.

    Before it was first seen a subject lacks nothing.
    """
    found = list(_spans(grid, known, first_seen))
    if len(found) > SPANS_AT_MOST:
        found = sorted(sorted(found, key=lambda span: span[0] - span[1])[:SPANS_AT_MOST])
    return found


def _spans(grid: Grid, known: Iterable[datetime], first_seen: datetime | None) -> Iterator[Span]:
    begin = grid.since if first_seen is None else max(grid.since, first_seen)
    for at in (*known, grid.until + grid.step):
        # What is first seen within a step has a value only at the end of the next one.
        if at - grid.step > begin and grid.moments_between(begin + MICROSECOND, at):
            yield begin, at - grid.step
        begin = max(begin, at)


def said(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")
