"""A few quantities over time on one scale. Where one is unknown its line has a gap, hatched and with its reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.functional import Promise

from .lag_lines import has_lone_points
from .layout import AXIS, HATCH_AXIS, QUIET, Change, Figure, Line, Span, figure, hatched_windows, on_axis
from .volume_bars import why_unknown


@dataclass(frozen=True)
class Scale:
    """`title` of the axis, `unit` of a value on hover, and its `format` of d3."""

    title: str | Promise
    unit: str | Promise
    format: str


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
    at = [on_axis(start + step) for start in starts]
    traces = [_line(at, line, colour, scale) for line, colour in lines]
    reasons = [why_unknown(lines, i) for i in range(len(starts))]
    traces.append(hatched_windows(starts, step, [reason is not None for reason in reasons], reasons))
    return figure(
        traces,
        starts[0] if starts else until - step,
        until,
        changes,
        spans,
        hovermode="x unified",
        bargap=0,
        barmode="overlay",
        showlegend=len(lines) > 1,
        legend={"orientation": "h", "y": -0.38, "x": 0, "font": {"color": "var(--ink)"}},
        yaxis={
            **AXIS,
            "title": {"text": str(scale.title), "font": {"color": QUIET}},
            "rangemode": "tozero",
            **({} if any(value for line, _colour in lines for value in line.values) else {"range": [0, 1]}),
        },
        yaxis2=HATCH_AXIS,
    )


def _line(at: list[str], line: Line, colour: str, scale: Scale) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines+markers" if has_lone_points(line.values) else "lines",
        "name": line.name,
        "x": at,
        "y": list(line.values),
        "connectgaps": False,
        "line": {"color": colour, "width": 1.8},
        "marker": {"color": colour, "size": 3},
        "hovertemplate": f"%{{y:{scale.format}}} {scale.unit}",
    }
