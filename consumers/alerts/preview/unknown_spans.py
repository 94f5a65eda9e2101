"""When nothing was known of a subject, from the moments at which something was."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from .grid import Grid

# A value that comes and goes for days has more: then the longest are kept.
SPANS_AT_MOST = 200
Span = tuple[datetime, datetime]


def unknown_spans(grid: Grid, known: Iterable[datetime], first_seen: datetime | None) -> list[Span]:
    """[from, to) of each, in order. `known`: the moments of the grid, in order; each stands for the step before it.

    Before it was first seen a subject lacks nothing.
    """
    found = list(_spans(grid, known, first_seen))
    if len(found) > SPANS_AT_MOST:
        found = sorted(sorted(found, key=lambda span: span[0] - span[1])[:SPANS_AT_MOST])
    return found


def _spans(grid: Grid, known: Iterable[datetime], first_seen: datetime | None) -> Iterator[Span]:
    step = timedelta(seconds=grid.step_seconds)
    begin = grid.since if first_seen is None else max(grid.since, first_seen)
    for at in (*known, grid.until + step):
        # What is first seen within a step has a value only at the end of the next one.
        if at - step > begin and grid.moments_between(begin + timedelta(microseconds=1), at):
            yield begin, at - step
        begin = max(begin, at)
