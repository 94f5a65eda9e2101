"""Lag, other quantities and volumes over time. Where one is unknown its line has a gap, hatched and with its reason."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from .layout import (
    AXIS,
    HATCH_AXIS,
    MARGIN,
    QUIET,
    Change,
    Figure,
    Line,
    Span,
    aside,
    figure,
    hatched,
    on_axis,
)

# Lag over time: the total and its parts. Where lag is unknown a line has a gap, hatched and with its reason.
SERIES, FEW = 8, 10
# Of d3: a whole number, with its thousands apart.
WHOLE = ",d"


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
    at = _ends(starts, step)
    # The total lies below: of one topic alone its line is that of the total.
    traces = [_lag_line(at, total, "var(--line-total)", 3.2 if parts else 2.2)]
    traces += [_lag_line(at, part, f"var(--series-{i % SERIES + 1})", 1.4) for i, part in enumerate(parts)]
    if live is not None:
        traces.append(_live(*live))
    traces.append(hatched(starts, step, [total]))
    read = [*(value for line in (total, *parts) for value in line.values), live[1] if live else None]
    axis = {"tickformat": WHOLE, **_foot(value for value in read if value is not None)}
    drawn = _over_time(
        traces, starts, step, until, changes, spans, _("messages"), axis, barmode="overlay", showlegend=bool(parts)
    )
    if left_out:
        drawn["layout"]["annotations"].append(aside(left_out))
    return drawn


def _ends(starts: Sequence[datetime], step: timedelta) -> Figure:
    """Windows follow each other without a gap: their first end and the milliseconds between two say them all."""
    return {"x0": on_axis(starts[0] + step), "dx": step // timedelta(milliseconds=1)} if starts else {"x": []}


def _foot(values: Iterable[float]) -> Figure:
    """The axis begins at zero. A few messages fill no chart, and their axis has no ticks between whole numbers."""
    return {"range": [0, FEW], "dtick": 2} if max(values, default=0) < FEW else {"rangemode": "tozero"}


def _over_time(
    traces: list[Figure],
    starts: Sequence[datetime],
    step: timedelta,
    until: datetime,
    changes: Sequence[Change],
    spans: Sequence[Span],
    title: str,
    axis: Figure,
    *,
    legend_y: float = -0.22,
    legend: Figure | None = None,
    **layout: Any,
) -> Figure:
    return figure(
        traces,
        starts[0] if starts else until - step,
        until,
        changes,
        spans,
        hovermode="x unified",
        bargap=0,
        legend={"orientation": "h", "y": legend_y, "x": 0, "font": {"color": "var(--ink)"}, **(legend or {})},
        yaxis={**AXIS, "title": {"text": title, "font": {"color": QUIET}, "standoff": 8}, **axis},
        yaxis2=HATCH_AXIS,
        **layout,
    )


def _lag_line(at: Figure, line: Line, colour: str, width: float) -> Figure:
    return drawn_line(at, line, colour, width, f"%{{y:,d}} {_('messages')}")


def drawn_line(at: Figure, line: Line, colour: str, width: float, hovertemplate: str) -> Figure:
    """`at`: of its first value, and how far apart they are. Where a value is unknown the line has a gap."""
    return {
        "type": "scatter",
        "mode": "lines+markers" if _has_lone_points(line.values) else "lines",
        "name": line.name,
        **at,
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
        # It is at the right edge, where the plot ends.
        "cliponaxis": False,
        "marker": {"color": "var(--line-total)", "size": 7, "symbol": "circle-open", "line": {"width": 2}},
        "hovertemplate": f"%{{y:,d}} {_('messages')}",
    }


def _has_lone_points(values: Sequence[float | None]) -> bool:
    """A known value between two unknown ones is no line: without a marker it would not be seen."""
    known = [False, *(value is not None for value in values), False]
    return any(
        here and not before and not after for before, here, after in zip(known, known[1:], known[2:], strict=False)
    )


# Seconds between two ticks of an axis of durations, and at most how many steps it has.
TICKS = [
    *(1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 28_800),
    *(86_400 * days for days in (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)),
]
STEPS = 5
WIDTH = 1.8


@dataclass(frozen=True)
class Scale:
    """`title` of the axis, and how a value is said: by its `unit` and a `format` of d3, or in `words`, which are those
    of a duration in seconds."""

    title: str | Promise
    unit: str | Promise = ""
    format: str = WHOLE
    words: Callable[[float], str] | None = None


# Room below for a legend, also where there is none: figures side by side have one scale of pixels.
WITH_LEGEND = 72


def time_lines(
    starts: Sequence[datetime],
    step: timedelta,
    lines: Sequence[tuple[Line, str]],
    scale: Scale,
    changes: Sequence[Change],
    spans: Sequence[Span] = (),
    *,
    until: datetime,
) -> Figure:
    """`starts` are the starts of the complete windows, oldest first. Each line comes with its colour."""
    at = _ends(starts, step)
    traces = [
        _line(at, replace(line, values=[_short(value) for value in line.values]), colour, scale)
        for line, colour in lines
    ]
    traces.append(hatched(starts, step, [line for line, _colour in lines]))
    most = max((value for line, _colour in lines for value in line.values if value is not None), default=0.0)
    axis = {
        "tickformat": scale.format,
        **(_foot([most]) if scale.format == WHOLE else {"rangemode": "tozero"}),
        **({"range": [0, 1]} if not most and scale.format != WHOLE else {}),
        **(_ticks(most, scale.words) if scale.words else {}),
    }
    return _over_time(
        traces,
        starts,
        step,
        until,
        changes,
        spans,
        str(scale.title),
        axis,
        legend_y=-0.38,
        margin={**MARGIN, "b": WITH_LEGEND},
        barmode="overlay",
        showlegend=len(lines) > 1,
    )


def _short(value: float | None) -> float | None:
    """No more digits than a line of some hundred pixels shows: they are most of what a figure weighs."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _ticks(most: float, words: Callable[[float], str]) -> Figure:
    """Of durations: whole seconds, minutes, hours or days."""
    step = next((one for one in TICKS if most <= one * STEPS), TICKS[-1])
    at = [number * step for number in range(int(most // step) + 2)]
    return {"tickvals": at, "ticktext": [words(value) for value in at], "range": [0, at[-1]]}


def _line(at: Figure, line: Line, colour: str, scale: Scale) -> Figure:
    if scale.words is None:
        return drawn_line(at, line, colour, WIDTH, f"%{{y:{scale.format}}} {scale.unit}")
    words = [None if value is None else scale.words(value) for value in line.values]
    return drawn_line(at, line, colour, WIDTH, "%{customdata}") | {"customdata": words}


# Volumes over time: what each window consumed, retried and dead-lettered, one upon the other.
#
# A volume that is unknown adds nothing to its window, which is hatched over: its column is no sum.
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
    sums = [sum(value or 0 for value in values) for values in zip(*(line.values for line, _ in lines), strict=True)]
    traces = [_bars(starts, step, line, colour) for line, colour in lines]
    traces.append(hatched(starts, step, [line for line, _colour in lines]))
    return _over_time(
        traces,
        starts,
        step,
        until,
        changes,
        spans,
        _title(step),
        {"tickformat": WHOLE, **_foot(sums)},
        legend={"traceorder": "normal"},
        barmode="stack",
        showlegend=len(lines) > 1,
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
