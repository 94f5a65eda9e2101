"""A few quantities over time on one scale. Where one is unknown its line has a gap, hatched and with its reason."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.utils.functional import Promise

from .lag_lines import drawn_line
from .layout import AXIS, HATCH_AXIS, QUIET, Change, Figure, Line, Span, figure, hatched, on_axis

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
    format: str = ",d"
    words: Callable[[float], str] | None = None


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
    traces = [
        _line(at, replace(line, values=[_short(value) for value in line.values]), colour, scale)
        for line, colour in lines
    ]
    traces.append(hatched(starts, step, [line for line, _colour in lines]))
    most = max((value for line, _colour in lines for value in line.values if value is not None), default=0.0)
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
            "tickformat": scale.format,
            "rangemode": "tozero",
            **({"range": [0, 1]} if not most else {}),
            **(_ticks(most, scale.words) if scale.words else {}),
        },
        yaxis2=HATCH_AXIS,
    )


def _short(value: float | None) -> float | None:
    """No more digits than a line of some hundred pixels shows: they are most of what a figure weighs."""
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _ticks(most: float, words: Callable[[float], str]) -> Figure:
    """Of durations: whole seconds, minutes, hours or days."""
    step = next((one for one in TICKS if most <= one * STEPS), TICKS[-1])
    at = [number * step for number in range(int(most // step) + 2)]
    return {"tickvals": at, "ticktext": [words(value) for value in at], "range": [0, at[-1]]}


def _line(at: list[str], line: Line, colour: str, scale: Scale) -> Figure:
    if scale.words is None:
        return drawn_line(at, line, colour, WIDTH, f"%{{y:{scale.format}}} {scale.unit}")
    said = [None if value is None else scale.words(value) for value in line.values]
    return drawn_line(at, line, colour, WIDTH, "%{customdata}") | {"customdata": said}
