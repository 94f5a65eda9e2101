"""Who held a queue as cells of a picture: in each the worst that holds in it. Pure."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from consumers.selectors.ownership.rows import Holding, TimelineRun

from .segments import Segment

SEVERITY = {holding: number for number, holding in enumerate(reversed(Holding))}


class Axis(NamedTuple):
    """`cells` cells of `step` from `since` on."""

    since: datetime
    step: timedelta
    cells: int

    @classmethod
    def over(cls, since: datetime, until: datetime, cells: int) -> "Axis":
        """About so many cells of whole seconds that hold [since, until), the same ones whenever they are asked for."""
        seconds = max(1, -int(-(until - since).total_seconds() // cells))
        first = int(since.timestamp() // seconds)
        count = -int(-until.timestamp() // seconds) - first
        return cls(datetime.fromtimestamp(first * seconds, since.tzinfo), timedelta(seconds=seconds), count)

    @property
    def until(self) -> datetime:
        return self.since + self.step * self.cells


def runs(told: Sequence[Segment], axis: Axis, places: Mapping[str, int]) -> list[TimelineRun]:
    """`told` in order, within the axis; `places`: of the owners in the timeline's list."""
    if len(told) == 1:
        return [_run(told[0], axis.cells, places)]
    cells: list[int | None] = [None] * axis.cells
    for number in sorted(range(len(told)), key=lambda number: SEVERITY[told[number].holding]):
        first = (told[number].since - axis.since) // axis.step
        last = -((axis.since - told[number].until) // axis.step)
        cells[first:last] = [number] * (last - first)
    found = ((number, len(list(same))) for number, same in groupby(cells))
    return [_run(told[number], length, places) for number, length in found if number is not None]


def _run(segment: Segment, cells: int, places: Mapping[str, int]) -> TimelineRun:
    owners = tuple(dict.fromkeys(places[claim.owner] for claim in segment.claims))
    since, until = segment.since, segment.until
    if segment.holding is Holding.OWNER:
        since, until = segment.claims[0].since, segment.claims[0].told
    return TimelineRun(cells, segment.holding, owners, since, until, segment.reason)
