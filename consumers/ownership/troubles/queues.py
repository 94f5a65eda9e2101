"""Queues that nobody consumes, that two members hold, or that another member holds than expected."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max

from consumers.models import Assignment, Client
from consumers.ownership.group_shares import TopicShare, strategies
from consumers.ownership.troubles.evidence import UNOWNED, Effects, Evidence, keys
from consumers.queries.findings import DetectedFinding
from consumers.rocketmq.allocation import MACHINE_ROOM
from consumers.vocabulary.findings import FindingCode


def doubly_owned(evidence: Evidence, effects: Effects) -> Iterator[DetectedFinding]:
    """One for each topic and set of owners."""
    by_owners: dict[tuple[str, tuple[str, ...]], tuple[TopicShare, list[int]]] = {}
    for share, queue in effects.doubly_owned.get(FindingCode.DOUBLY_OWNED, ()):
        owners = tuple(sorted({one.client_id for one in evidence.held[queue]}))
        by_owners.setdefault((share.topic, owners), (share, []))[1].append(queue)
    for (topic, owners), (share, found) in by_owners.items():
        yield DetectedFinding(
            code=FindingCode.DOUBLY_OWNED,
            key=" ".join([topic, *owners]),
            params={"topic": topic, "owners": list(owners)},
            since=max(sorted(one.seen_since for one in evidence.held[queue])[1] for queue in found),
            doubly_owned=keys(share, found),
        )


def unexpected(evidence: Evidence) -> Iterator[DetectedFinding]:
    """One for each topic, holder and expected owner. Only where everything is computed, and calm."""
    if not evidence.is_calm or evidence.shares.why is not None or len(strategies(evidence.members)) > 1:
        return
    for share in evidence.topics:
        found: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for queue, holders in evidence.held.items():
            if queue not in share.queues or share.why is not None or len(holders) != 1:
                continue
            owners = tuple(sorted(set(share.owners.get(queue, ()))))
            if holders[0].client_id not in owners and evidence.is_known_by_clients(share, queue):
                found.setdefault((holders[0].client_id, owners), []).append(queue)
        for (holder, owners), of_holder in found.items():
            yield _unexpected(evidence, share, holder, owners, of_holder)


def _unexpected(
    evidence: Evidence, share: TopicShare, holder: str, owners: tuple[str, ...], found: list[int]
) -> DetectedFinding:
    return DetectedFinding(
        code=FindingCode.UNEXPECTED_OWNER,
        key=" ".join([share.topic, holder, *owners]),
        params={"topic": share.topic, "holder": holder, "expected": list(owners)},
        since=min(evidence.held[queue][0].seen_since for queue in found),
        queues=keys(share, found),
    )


# Queues that nobody consumes, for a cause that is not told elsewhere, with what the evidence says of why.
# A broker keeps the locks of a member that is gone for 60 s (RebalanceLockManager, 5.4.0); then members try again, at
# the latest when they share anew 20 s later, and are asked.
LOCKS_END = timedelta(seconds=100)
NOT_COMPUTED = "not computed"


def unowned(evidence: Evidence, effects: Effects) -> Iterator[DetectedFinding]:
    """One for each topic and cause. Two queries where there is one."""
    found = effects.unowned.get(UNOWNED, ())
    if not found:
        return
    gone_at = _gone_at(evidence)
    by_cause: dict[tuple[str, FindingCode], tuple[TopicShare, list[int]]] = {}
    for share, queue in found:
        cause = _cause(evidence, share, queue, gone_at)
        by_cause.setdefault((share.topic, cause), (share, []))[1].append(queue)
    last_held = _last_held(evidence, [queue for _, queue in found])
    for (_, code), (share, of_cause) in by_cause.items():
        yield _finding(evidence, share, code, of_cause, last_held)


def _finding(
    evidence: Evidence, share: TopicShare, code: FindingCode, found: list[int], last_held: dict[int, datetime]
) -> DetectedFinding:
    ended = [at for queue in found if (at := last_held.get(queue)) is not None]
    params: dict[str, Any] = {
        "topic": share.topic,
        "expected": sorted({client_id for queue in found for client_id in share.owners.get(queue, ())}),
        "last_held_until": max(ended).isoformat() if ended else None,
    }
    doubt = evidence.shares.why or share.why
    if code is FindingCode.UNOWNED_UNKNOWN_OWNER:
        params["why"] = doubt.sort.value if doubt else NOT_COMPUTED
    return DetectedFinding(
        code=code,
        key=share.topic,
        params=params,
        since=min(ended) if len(ended) == len(found) else evidence.group.settled_at,
        unowned=keys(share, found),
        why=doubt.sentence if doubt else "",
    )


def _cause(evidence: Evidence, share: TopicShare, queue: int, gone_at: datetime | None) -> FindingCode:
    owners = share.owners.get(queue, ())
    if share.why is not None or evidence.shares.why is not None or not owners:
        in_rooms = strategies(evidence.members) == [MACHINE_ROOM]
        return FindingCode.UNOWNED_NO_ROOM if in_rooms else FindingCode.UNOWNED_UNKNOWN_OWNER
    if not any(member.orderly for member in evidence.members if member.client_id in owners):
        return FindingCode.UNOWNED_NO_START
    is_recent = gone_at is not None and evidence.now - gone_at < LOCKS_END
    return FindingCode.UNOWNED_LOCK_HELD if is_recent else FindingCode.UNOWNED_NO_LOCK


def _gone_at(evidence: Evidence) -> datetime | None:
    """When the last of those that did not come back was seen to be gone."""
    present = [member.client_id for member in evidence.members]
    gone = Client.objects.filter(group=evidence.group).exclude(client_id__in=present)
    return gone.aggregate(at=Max("gone_by"))["at"]


def _last_held(evidence: Evidence, found: list[int]) -> dict[int, datetime]:
    rows = Assignment.objects.filter(group=evidence.group, queue__in=found).order_by()
    return dict(rows.values_list("queue_id").annotate(Max("gone_by")))
