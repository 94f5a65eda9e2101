"""Marks of one cause and about one minute as one mark, with their count: 50 events that coincide stay readable."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from .time_bars import MARK_WIDTH, Mark

MINUTE = timedelta(minutes=1)
TitleOf = Callable[[Sequence[Mark]], str]


def merged(marks: Sequence[Mark], since: datetime, until: datetime, title_of: TitleOf) -> list[Mark]:
    """The marks within [since, until], in order of time. Marks of one shape and cause that would cover each other, or
    are of one minute, are one mark at the time of the first. Such a mark has the others as `parts`, newest first, leads
    to their list by its `anchor`, and says what `title_of` makes of them.
    """
    slot = max(MINUTE, (until - since) * MARK_WIDTH / 100)
    together: dict[tuple[str, str, float], list[Mark]] = {}
    for mark in sorted((mark for mark in marks if since <= mark.at <= until), key=lambda mark: mark.at):
        # Marks without a cause stay apart.
        key = (mark.state, mark.cause or mark.href, mark.at.timestamp() // slot.total_seconds())
        together.setdefault(key, []).append(mark)
    return [_one(some, title_of) for some in together.values()]


def _one(some: Sequence[Mark], title_of: TitleOf) -> Mark:
    if len(some) == 1:
        return some[0]
    first = some[0]
    # The same while the range moves on: what a reader opened stays open.
    anchor = f"changes-{first.state.lower()}-{first.at:%Y%m%d%H%M%S%f}"
    return replace(first, text=title_of(some), href=f"#{anchor}", anchor=anchor, parts=tuple(reversed(some)))
