"""What the selectors say of the past: windows, every one of the range, with nulls where nothing is known."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from consumers.pipeline.upkeep import STEPS
from consumers.selectors.public import answer, public

NOTHING_MORE: Mapping[str, str] = MappingProxyType({})


class Point(NamedTuple):
    """One window from `at`. Lag and time lag are those of its last reading; rates are messages per second.

    `unknown_reason` says why the window has no lag, and so nothing else; `unknown` why a window with a lag lacks more.
    `complete`: it was aggregated to its end. One that was not holds what was read of it so far.
    """

    at: datetime
    lag_messages: int | None
    time_lag_seconds: float | None
    consume_rate: float | None
    produce_rate: float | None
    readings: int | None
    unknown_reason: str | None
    unknown: Mapping[str, str] = NOTHING_MORE
    complete: bool = False


@dataclass(frozen=True)
class Series:
    """Null names mean all: a group's own series has none, a topic's has the topic."""

    topic: str | None
    broker: str | None
    queue_id: int | None
    points: list[Point]


@answer("Every window of the range is there; one of which nothing is known holds nulls and the reason.")
@dataclass(frozen=True)
class History:
    since: datetime = field(metadata=public(name="from"))
    until: datetime = field(metadata=public(name="to"))
    step_seconds: int = field(metadata=public(of=STEPS))
    series: list[Series]
