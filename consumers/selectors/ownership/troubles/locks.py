"""Orderly members that hold a queue whose lock they could not renew: they stop consuming it.

Members renew all locks every 20 s and take one for lost after 30 s (RocketMQ 5.4.0, ProcessQueue.isLockExpired).
"""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.utils.translation import gettext

from consumers.selectors.ownership.finding import Kind, Level, OwnershipFinding
from consumers.selectors.ownership.shares.sharing import is_broadcasting
from consumers.selectors.ownership.shares.topic_share import TopicShare
from consumers.selectors.rebalances.log_lines import OF_MEMBERS
from consumers.selectors.rebalances.rows import LogLine
from consumers.selectors.text.measures import age

from .evidence import Evidence, Held, keys
from .words import queues

LOCK_HOLDS = timedelta(seconds=30)


def locks_lost(evidence: Evidence) -> Iterator[OwnershipFinding]:
    """One for each topic and member. Times are compared with the member's own clock, as far as its answer shows it."""
    if is_broadcasting(evidence.group):
        return
    clocks = _clocks(evidence)
    orderly = {member.client_id for member in evidence.members if member.orderly and member.error is None}
    for share in evidence.topics:
        lost: dict[str, list[tuple[int, Held]]] = {}
        for queue in share.queues:
            for one in evidence.held.get(queue, ()):
                if one.client_id in orderly and _is_lost(one, clocks.get(one.client_id)):
                    lost.setdefault(one.client_id, []).append((queue, one))
        for client_id, found in lost.items():
            yield _lost(evidence, share, client_id, found, clocks[client_id])


def _clocks(evidence: Evidence) -> dict[str, datetime]:
    """The newest time that each member named of any of its queues: its clock was at that at least when it answered."""
    newest: dict[str, datetime] = {}
    for one in (one for holders in evidence.held.values() for one in holders):
        for at in (one.last_lock_at, one.last_pull_at, one.last_consume_at):
            if at is not None:
                newest[one.client_id] = max(at, newest.get(one.client_id, at))
    return newest


def _is_lost(one: Held, clock: datetime | None) -> bool:
    return clock is not None and one.last_lock_at is not None and clock - one.last_lock_at > LOCK_HOLDS


def _lost(
    evidence: Evidence, share: TopicShare, client_id: str, found: list[tuple[int, Held]], clock: datetime
) -> OwnershipFinding:
    oldest = min(one.last_lock_at for _, one in found if one.last_lock_at is not None)
    places = keys(share, [queue for queue, _ in found])
    words = {"id": client_id, "queues": queues(places), "age": age((clock - oldest).total_seconds())}
    return OwnershipFinding(
        kind=Kind.LOCK_LOST,
        level=Level.PROBLEM,
        sentence=gettext("%(id)s has lost the lock of %(queues)s: it renewed it %(age)s before it answered.") % words,
        cure=gettext("Search the log of %(id)s for the line; while the lock is lost it consumes nothing of them.")
        % words,
        facts={"client_id": client_id, "topic": share.topic, "last_lock_at": oldest.isoformat()},
        since=oldest + LOCK_HOLDS,
        queues=places,
        log_line=LogLine(OF_MEMBERS, f"the message queue locked Failed, Group: {evidence.group.name}"),
    )
