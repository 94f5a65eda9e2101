"""Who owned which queue over time, for the picture of it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from consumers.selectors.ownership.rows import Timeline, TimelineQueue, TimelineRun
from consumers.selectors.ownership.shares.queues import ownable_queues
from consumers.selectors.ownership.shares.sharing import EVERY_MEMBER, POPS, is_broadcasting, why_ownerless
from consumers.selectors.queues.queues import find_group

from .cells import Axis, runs
from .claims import Claim, claims_between
from .doubts import GroupDoubts
from .segments import Doubts, segments

# Runs of many queues: those of a group change hands in the same readings, so that few of them differ in more than who
# held them.


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


CELLS = 240
NO_QUEUE = "no queue of the group is known yet"


def timeline(
    cluster: str, group: str, *, since: datetime, until: datetime, topic: str | None = None, cells: int = CELLS
) -> Timeline | None:
    """About `cells` cells that hold [since, until); None when there is no such group. A fixed number of queries."""
    found = find_group(cluster, group)
    if found is None:
        return None
    axis = Axis.over(since.astimezone(UTC), until, cells)
    claims = claims_between(found, axis.since, until)
    ownerless = why_ownerless(found)
    shared = EVERY_MEMBER if is_broadcasting(found) else POPS if ownerless == POPS and not claims else None
    if shared is not None:
        return _picture(axis, [], [], shared)
    doubts = GroupDoubts.of(found, claims, axis.since, until, ownerless)
    owners = sorted({claim.owner for of_queue in claims.values() for claim in of_queue})
    alike = AlikeQueues(axis, until, {owner: place for place, owner in enumerate(owners)})
    queues = [
        TimelineQueue(
            queue.topic,
            queue.broker,
            queue.queue_id,
            alike.runs(claims.get(queue.pk, ()), doubts.of_queue(queue)),
        )
        for queue in ownable_queues(found, claims.keys(), topic=topic, retries=False)
    ]
    return _picture(axis, owners, queues, None if queues else NO_QUEUE)


def _picture(axis: Axis, owners: list[str], queues: list[TimelineQueue], unknown_reason: str | None) -> Timeline:
    return Timeline(
        since=axis.since,
        until=axis.until,
        step_seconds=axis.step.total_seconds(),
        cells=axis.cells,
        owners=owners,
        queues=queues,
        unknown_reason=unknown_reason,
    )
