"""A figure with a logarithmic scale: powers of ten above a zero that stays at the foot of the chart."""

from math import log10
from typing import Any

from dashboard.wording.numbers import count

from .layout import Figure
from .time_lines import Scale

# Seconds at which an axis of durations has a tick: 1 s, 10 s, 1 min, 10 min, 1 h, 10 h, then days.
DURATIONS = [0, 1, 10, 60, 600, 3_600, 36_000, *(86_400 * 10**power for power in range(6))]
NUMBERS = [0, *(10**power for power in range(19))]
# The ticks of zero and one need this much of the axis between them.
APART = 0.1
# Room above the largest value.
ROOM = 1.05


def logarithmic(drawn: Figure, scale: Scale) -> Figure:
    """The logarithm is that of the value plus one: a plain one has no place for zero, which would vanish.

    The true values stay in `values`, for tables, and in words in `customdata`, for what a pointer finds.
    """
    traces = [trace for trace in drawn["data"] if trace.get("yaxis") != "y2"]
    for trace in traces:
        _rescale(trace, scale)
    top = max((value for trace in traces for value in trace["y"] if value is not None), default=0.0) or 1.0
    ticks = [value for value in (DURATIONS if scale.words else NUMBERS) if _height(value) <= top * ROOM]
    if _height(1) < top * APART:
        ticks.remove(1)
    axis = {name: value for name, value in drawn["layout"]["yaxis"].items() if name not in ("dtick", "rangemode")}
    drawn["layout"]["yaxis"] = axis | {
        "tickvals": [_height(value) for value in ticks],
        "ticktext": [scale.words(value) if scale.words else count(value) for value in ticks],
        "range": [0, top * ROOM],
        # A zoom in values of the other scale means nothing here.
        "uirevision": "log",
    }
    return drawn


def _rescale(trace: dict[str, Any], scale: Scale) -> None:
    values = trace["y"]
    trace["values"] = values
    trace["y"] = [None if value is None else _height(value) for value in values]
    if scale.words is None:
        trace["customdata"] = [None if value is None else count(value) for value in values]
        trace["hovertemplate"] = f"%{{customdata}} {scale.unit}"


def _height(value: float) -> float:
    return round(log10(1 + value), 5)
