"""Who owned which queue over time, for the picture of it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import Any, NamedTuple

from django.db.models import Q
from django.utils.translation import gettext_lazy

from consumers.models import Assignment, ConsumerGroup
from consumers.ownership.reports import EVERY_MEMBER, POPS, is_broadcasting, is_popping, ownable_queues, why_ownerless
from consumers.ownership.rows import Holding, Timeline, TimelineQueue, TimelineRun
from consumers.ownership.timeline.doubts import GroupDoubts
from consumers.queries.groups import find_group

from .segments import Claim, Doubts, Segment, claims_between, segments

# Who held a queue as cells of a picture: in each the worst that holds in it. Pure.
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


class RunsByPattern:
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

NO_QUEUE = gettext_lazy("no queue of the group is known yet")


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
    pops = not claims and is_popping(found)
    shared = str(EVERY_MEMBER) if is_broadcasting(found) else str(POPS) if pops else None
    if shared is not None:
        return _picture(axis, [], [], shared)
    doubts = GroupDoubts.of(found, claims, axis.since, until, ownerless)
    owners = sorted({claim.owner for of_queue in claims.values() for claim in of_queue})
    alike = RunsByPattern(axis, until, {owner: place for place, owner in enumerate(owners)})
    queues = [
        TimelineQueue(
            queue.topic,
            queue.broker,
            queue.queue_id,
            alike.runs(claims.get(queue.pk, ()), doubts.of_queue(queue)),
        )
        for queue in ownable_queues(found, claims.keys(), topic=topic, retries=False)
    ]
    return _picture(axis, owners, queues, None if queues else str(NO_QUEUE))


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


# The owners that the picture of a range names, without the picture.
def timeline_owners(group: ConsumerGroup, *, since: datetime, until: datetime, cells: int = CELLS) -> list[str]:
    """In the order of `Timeline.owners` over the same range. One query."""
    begins = Axis.over(since.astimezone(UTC), until, cells).since
    touching = Q(seen_since__lt=until) & (Q(gone_by=None) | Q(gone_by__gt=begins))
    rows = Assignment.objects.filter(touching, group=group).order_by()
    return sorted(set(rows.values_list("client_id", flat=True).distinct()))
