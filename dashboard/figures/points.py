"""Points of a series, and where they are missing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

# What the figures draw: values at equal steps of time. None is unknown, and says why.
Figure = dict[str, Any]

# Signs of spans.
REBALANCE, RESET = "⇄", "↺"


@dataclass(frozen=True)
class Line:
    """One quantity over time; `reasons` says of each None why it is unknown."""

    name: str
    values: Sequence[float | None]
    reasons: Sequence[str | None]


@dataclass(frozen=True)
class Change:
    """A change of state, drawn as a mark on the time axis."""

    at: datetime
    state: str
    text: str


@dataclass(frozen=True)
class Span:
    """Something that went on from `since` to `until`, drawn as a faint band with a sign; `text` tells it on hover.

    With a `lane`, counted from the top, it is a bar there instead, so that several stand one under the other. `href`:
    where a press on its sign leads.
    """

    since: datetime
    until: datetime
    text: str
    sign: str = REBALANCE
    colour: str = "var(--rebalance)"
    lane: int | None = None
    href: str = ""


def on_axis(at: datetime) -> str:
    """Plotly knows no zones: every axis is UTC and says so."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


# What is unknown is hatched over the whole height of a figure, and says why on hover; it never stands at zero.
# The axis of the hatches, beside that of the values: it has no ticks, and goes from 0 to 1.
HATCH_AXIS: Figure = {"overlaying": "y", "visible": False, "range": [0, 1], "fixedrange": True}

HATCH: Figure = {
    "color": "rgba(0,0,0,0)",
    "line": {"width": 0},
    "pattern": {"shape": "/", "size": 6, "solidity": 0.18, "fgcolor": "var(--hatch)", "fillmode": "replace"},
}


def no_reason() -> str:
    return _("no reason recorded")


def hatched_windows(
    starts: Sequence[datetime], step: timedelta, is_unknown: Sequence[bool], reasons: Sequence[str | None]
) -> Figure:
    """A hatched column over each window that is unknown, on the axis `y2`."""
    gaps = [i for i, unknown in enumerate(is_unknown) if unknown]
    return {
        "type": "bar",
        "name": _("unknown"),
        "x": [on_axis(starts[i] + step / 2) for i in gaps],
        "y": [1] * len(gaps),
        "width": [step.total_seconds() * 1000] * len(gaps),
        "yaxis": "y2",
        "showlegend": False,
        "customdata": [reasons[i] or no_reason() for i in gaps],
        "hovertemplate": "%{customdata}",
        "marker": HATCH,
    }
