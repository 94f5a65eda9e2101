"""What the figures draw: values at equal steps of time. None is unknown, and says why."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

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
