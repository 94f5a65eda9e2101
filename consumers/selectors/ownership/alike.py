"""Runs of many queues: those of a group change hands in the same readings, so that few of them differ in more than who
held them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from .cells import Axis, runs
from .claims import Claim
from .rows import TimelineRun
from .segments import Doubts, segments


class AlikeQueues:
    """Works out each pattern of intervals once, whoever the owners are. `places`: theirs in the timeline's list."""

    def __init__(self, axis: Axis, until: datetime, places: Mapping[str, int]) -> None:
        self._axis, self._until, self._places = axis, until, places
        # The doubts are kept with what they led to: as long as they are there, no others have their id.
        self._known: dict[Any, tuple[list[int], list[TimelineRun], Doubts]] = {}

    def runs(self, claims: Sequence[Claim], doubts: Doubts) -> list[TimelineRun]:
        owners = list(dict.fromkeys([claim.owner for claim in claims]))
        mine = [self._places[owner] for owner in owners]
        pattern = tuple([(owners.index(owner), since, told, gone_by) for owner, since, told, gone_by in claims])
        # The reason names an owner that has not answered for too long.
        silent = [c.owner for c in claims if c.gone_by is None and c.certain_until(doubts.patience) < self._until]
        key = (pattern, id(doubts.silent), tuple(silent))
        if key not in self._known:
            told = segments(claims, doubts, self._axis.since, self._until)
            self._known[key] = mine, runs(told, self._axis, self._places), doubts
        theirs, known, _ = self._known[key]
        if theirs == mine:
            return known
        place = dict(zip(theirs, mine, strict=True))
        return [
            TimelineRun(cells, holding, tuple([place[owner] for owner in held]), since, until, reason)
            for cells, holding, held, since, until, reason in known
        ]
