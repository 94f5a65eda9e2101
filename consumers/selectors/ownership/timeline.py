"""Who owned which queue over time, for the picture of it."""

from datetime import UTC, datetime

from consumers.selectors.queues import find_group

from .alike import AlikeQueues
from .cells import Axis
from .claims import claims_between
from .doubts import GroupDoubts
from .queues import ownable_queues
from .rows import Timeline, TimelineQueue
from .sharing import EVERY_MEMBER, POPS, is_broadcasting, why_ownerless

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
