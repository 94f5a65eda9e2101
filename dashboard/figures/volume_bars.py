"""Volumes over time: what each window consumed, retried and lost to the dead letters, one upon the other.

A volume that is unknown adds nothing to its window, which is hatched over: its column is no sum.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from .layout import AXIS, HATCH_AXIS, QUIET, Change, Figure, Line, Span, figure, hatched, on_axis

FEW = 10


def volume_bars(
    starts: Sequence[datetime],
    step: timedelta,
    lines: Sequence[tuple[Line, str]],
    changes: Sequence[Change],
    spans: Sequence[Span] = (),
    *,
    until: datetime,
) -> Figure:
    """`lines` from the foot up, each with its colour: messages of each window, that begin at `starts`."""
    traces = [_bars(starts, step, line, colour) for line, colour in lines]
    traces.append(hatched(starts, step, [line for line, _colour in lines]))
    return figure(
        traces,
        starts[0] if starts else until - step,
        until,
        changes,
        spans,
        hovermode="x unified",
        barmode="stack",
        bargap=0,
        showlegend=len(lines) > 1,
        legend={"orientation": "h", "y": -0.22, "x": 0, "traceorder": "normal", "font": {"color": "var(--ink)"}},
        yaxis={**AXIS, "title": {"text": _title(step), "font": {"color": QUIET}}, "tickformat": ",d", **_foot(lines)},
        yaxis2=HATCH_AXIS,
    )


def _bars(starts: Sequence[datetime], step: timedelta, line: Line, colour: str) -> Figure:
    return {
        "type": "bar",
        "name": line.name,
        "x": [on_axis(start + step / 2) for start in starts],
        "y": list(line.values),
        "width": [step.total_seconds() * 1000] * len(starts),
        "marker": {"color": colour, "line": {"width": 0}},
        "hovertemplate": f"%{{y:,d}} {_('messages')}",
    }


def _title(step: timedelta) -> str:
    minutes = round(step.total_seconds() / 60)
    return _("messages in 1 h") if minutes == 60 else _("messages in %(n)s min") % {"n": minutes}


def _foot(lines: Sequence[tuple[Line, str]]) -> Figure:
    """The axis begins at zero. A few messages fill no chart, and their axis has no ticks between whole numbers."""
    sums = [sum(value or 0 for value in values) for values in zip(*(line.values for line, _ in lines), strict=True)]
    if max(sums, default=0) < FEW:
        return {"range": [0, FEW], "dtick": 2}
    return {"rangemode": "tozero"}
