"""Lag over time: the total and its parts. Where lag is unknown a line has a gap, hatched and with its reason."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from .layout import AXIS, HATCH_AXIS, QUIET, Change, Figure, Line, Span, aside, figure, hatched, on_axis

SERIES, FEW = 8, 10


def lag_lines(
    starts: Sequence[datetime],
    step: timedelta,
    total: Line,
    parts: Sequence[Line],
    changes: Sequence[Change],
    spans: Sequence[Span] = (),
    *,
    live: tuple[datetime, float] | None = None,
    until: datetime,
    left_out: str = "",
) -> Figure:
    """`starts` are the starts of the complete windows, oldest first; each value is that of its window's last reading.
    `left_out`: what of it is not drawn, and why.

    `live`: the lag that was read last, and when: a marker of its own, as its window is not complete.
    """
    at = [on_axis(start + step) for start in starts]
    # The total lies below: of one topic alone its line is that of the total.
    traces = [_line(at, total, "var(--line-total)", 3.2 if parts else 2.2)]
    traces += [_line(at, part, f"var(--series-{i % SERIES + 1})", 1.4) for i, part in enumerate(parts)]
    if live is not None:
        traces.append(_live(*live))
    traces.append(hatched(starts, step, [total]))
    since = starts[0] if starts else until - step
    drawn = figure(
        traces,
        since,
        until,
        changes,
        spans,
        hovermode="x unified",
        bargap=0,
        barmode="overlay",
        showlegend=bool(parts),
        legend={"orientation": "h", "y": -0.22, "x": 0, "font": {"color": "var(--ink)"}},
        yaxis={
            **AXIS,
            "title": {"text": _("messages"), "font": {"color": QUIET}},
            "tickformat": ",d",
            **_foot([*(value for line in (total, *parts) for value in line.values), live[1] if live else None]),
        },
        yaxis2=HATCH_AXIS,
    )
    if left_out:
        drawn["layout"]["annotations"].append(aside(left_out))
    return drawn


def _foot(values: Sequence[float | None]) -> Figure:
    """The axis begins at zero. A few messages fill no chart, and their axis has no ticks between whole numbers."""
    if max((value for value in values if value is not None), default=0) < FEW:
        return {"range": [0, FEW], "dtick": 2}
    return {"rangemode": "tozero"}


def _line(at: list[str], line: Line, colour: str, width: float) -> Figure:
    return drawn_line(at, line, colour, width, f"%{{y:,d}} {_('messages')}")


def drawn_line(at: list[str], line: Line, colour: str, width: float, hovertemplate: str) -> Figure:
    """Where a value is unknown it has a gap."""
    return {
        "type": "scatter",
        "mode": "lines+markers" if _has_lone_points(line.values) else "lines",
        "name": line.name,
        "x": at,
        "y": list(line.values),
        "connectgaps": False,
        "line": {"color": colour, "width": width},
        "marker": {"color": colour, "size": 3},
        "hovertemplate": hovertemplate,
    }


def _live(at: datetime, lag: float) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": _("now"),
        "x": [on_axis(at)],
        "y": [lag],
        "connectgaps": False,
        "marker": {"color": "var(--line-total)", "size": 7, "symbol": "circle-open", "line": {"width": 2}},
        "hovertemplate": f"%{{y:,d}} {_('messages')}",
    }


def _has_lone_points(values: Sequence[float | None]) -> bool:
    """A known value between two unknown ones is no line: without a marker it would not be seen."""
    known = [False, *(value is not None for value in values), False]
    return any(
        here and not before and not after for before, here, after in zip(known, known[1:], known[2:], strict=False)
    )
