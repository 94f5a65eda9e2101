"""For how much of a range a preview had data at all, of whichever subject: an end of data is no end of trouble."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from consumers.pipeline.slices import EPOCH, microseconds

from .grid import Grid
from .unknown_spans import unknown_spans


def data_span(grid: Grid, known_at: Collection[int]) -> dict[str, Any]:
    """{known_from, known_to, known_seconds, unknown_seconds, unknown_spans, unknown}.

    `known_at`: the moments of the grid at which anything was known. Each stands for the step before it.
    """
    moments = sorted(known_at)
    step = timedelta(seconds=grid.step_seconds)
    nothing = _("there is no data in the range")
    spans = unknown_spans(grid, map(_time, moments), None) if grid.count else []
    return {
        "known_from": said(_time(moments[0]) - step) if moments else None,
        "known_to": said(_time(moments[-1])) if moments else None,
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


def said(at: datetime) -> str:
    return at.isoformat().replace("+00:00", "Z")


def _time(micros: int) -> datetime:
    return EPOCH + timedelta(microseconds=micros)
