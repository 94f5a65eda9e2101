"""Queues that nobody consumes, that two members hold, or that another member holds than expected."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.db.models import Max
from django.utils.translation import gettext

from consumers.models import Assignment, Client
from consumers.ownership.finding import Kind, Level, OwnershipFinding
from consumers.ownership.shares.group_shares import strategies
from consumers.ownership.shares.topic_share import TopicShare
from consumers.ownership.troubles.evidence import Effects, Evidence, ids, keys, queues
from consumers.rebalances.rows import LogLine
from consumers.rebalances.sentences import OF_MEMBERS
from consumers.rocketmq.allocation.strategies import MACHINE_ROOM

# Queues that two members hold, or another one than is expected.
LOG_LINE = LogLine(OF_MEMBERS, "client rebalanced result changed")


def doubly_owned(evidence: Evidence, effects: Effects) -> Iterator[OwnershipFinding]:
    """One for each topic and set of owners."""
    by_owners: dict[tuple[str, tuple[str, ...]], tuple[TopicShare, list[int]]] = {}
    for share, queue in effects.doubly_owned.get(Kind.DOUBLY_OWNED, ()):
        owners = tuple(sorted({one.client_id for one in evidence.held[queue]}))
        by_owners.setdefault((share.topic, owners), (share, []))[1].append(queue)
    for (topic, owners), (share, found) in by_owners.items():
        places = keys(share, found)
        words = {"ids": ids(owners), "queues": queues(places)}
        yield OwnershipFinding(
            kind=Kind.DOUBLY_OWNED,
            level=Level.PROBLEM,
            sentence=gettext("Consumed by two: %(queues)s, by %(ids)s. Their messages are consumed twice.") % words,
            cure=gettext(
                "Compare the logs of %(ids)s: the numbers of clients and queues in the line show which member is wrong."
            )
            % words,
            facts={"topic": topic, "owners": list(owners)},
            since=max(sorted(one.seen_since for one in evidence.held[queue])[1] for queue in found),
            doubly_owned=places,
            log_line=LOG_LINE,
        )


def unexpected(evidence: Evidence) -> Iterator[OwnershipFinding]:
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
) -> OwnershipFinding:
    places = keys(share, found)
    words = {"queues": queues(places), "holder": holder, "ids": ids(owners) or gettext("nobody")}
    return OwnershipFinding(
        kind=Kind.UNEXPECTED,
        level=Level.WARNING,
        sentence=gettext("%(holder)s owns queues that are assigned to %(ids)s: %(queues)s.") % words,
        cure=gettext(
            "Search the log of %(holder)s for the line. It contains the numbers of clients and queues "
            "that the member counts."
        )
        % words,
        facts={"topic": share.topic, "holder": holder, "expected": list(owners)},
        since=min(evidence.held[queue][0].seen_since for queue in found),
        queues=places,
        log_line=LOG_LINE,
    )


# Queues that nobody consumes, for a cause that is not told elsewhere, with what the evidence says of why.
# A broker keeps the locks of a member that is gone for 60 s (RebalanceLockManager, 5.4.0); then members try again, at
# the latest when they share anew 20 s later, and are asked.
LOCKS_END = timedelta(seconds=100)


@dataclass(frozen=True)
class Reason:
    """`log` is what the owner that is to be writes into its log."""

    sentence: str
    cure: str
    level: Level = Level.PROBLEM
    log: str | None = None


class Sort(StrEnum):
    UNKNOWN_OWNER = "unknown owner"
    LOCK_OF_THE_GONE = "lock of the gone"
    NO_LOCK = "no lock"
    NO_START = "no start"


def unowned(evidence: Evidence, effects: Effects) -> Iterator[OwnershipFinding]:
    """One for each topic and sort of reason. Two queries where there is one."""
    found = effects.unowned.get(Kind.UNOWNED, ())
    if not found:
        return
    gone_at = _gone_at(evidence)
    by_reason: dict[tuple[str, Sort], tuple[TopicShare, list[int]]] = {}
    for share, queue in found:
        by_reason.setdefault((share.topic, _sort(evidence, share, queue, gone_at)), (share, []))[1].append(queue)
    last_held = _last_held(evidence, [queue for _, queue in found])
    for (_, sort), (share, of_reason) in by_reason.items():
        yield _finding(evidence, share, sort, of_reason, last_held)


def _finding(
    evidence: Evidence, share: TopicShare, sort: Sort, found: list[int], last_held: dict[int, datetime]
) -> OwnershipFinding:
    places = keys(share, found)
    expected = sorted({client_id for queue in found for client_id in share.owners.get(queue, ())})
    reason = _without_owner(evidence, share) if sort is Sort.UNKNOWN_OWNER else _reason(evidence, sort, expected)
    ended = [at for queue in found if (at := last_held.get(queue)) is not None]
    words = {"queues": queues(places), "why": reason.sentence}
    return OwnershipFinding(
        kind=Kind.UNOWNED,
        level=reason.level,
        sentence=gettext("Not consumed: %(queues)s. %(why)s") % words,
        cure=reason.cure,
        facts={
            "topic": share.topic,
            "expected": expected,
            "last_held_until": max(ended).isoformat() if ended else None,
        },
        since=min(ended) if len(ended) == len(found) else evidence.group.settled_at,
        unowned=places,
        log_line=LogLine(OF_MEMBERS, reason.log) if reason.log else None,
    )


def _sort(evidence: Evidence, share: TopicShare, queue: int, gone_at: datetime | None) -> Sort:
    owners = share.owners.get(queue, ())
    if share.why is not None or evidence.shares.why is not None or not owners:
        return Sort.UNKNOWN_OWNER
    if not any(member.orderly for member in evidence.members if member.client_id in owners):
        return Sort.NO_START
    return Sort.LOCK_OF_THE_GONE if gone_at is not None and evidence.now - gone_at < LOCKS_END else Sort.NO_LOCK


def _reason(evidence: Evidence, sort: Sort, expected: list[str]) -> Reason:
    group, words = evidence.group.name, {"ids": ids(expected)}
    if sort is Sort.LOCK_OF_THE_GONE:
        said = gettext("%(ids)s waits for the lock: a broker retains the locks of a member that left for 60 s.")
        return Reason(said % words, gettext("Wait for a minute."), Level.NOTE)
    if sort is Sort.NO_LOCK:
        said = gettext("Assigned to %(ids)s, which does not own it. The broker may not have granted the lock.")
        cure = gettext("Search the log of %(ids)s for the line. A process outside the group may hold the lock.")
        return Reason(said % words, cure % words, log=f"doRebalance, {group}, add a new mq failed")
    said = gettext("Assigned to %(ids)s, which does not own it. It may have failed to read its start offset.")
    cure = gettext(
        "Search the log of %(ids)s for the line. If it is missing, find out why the member does not rebalance."
    )
    return Reason(said % words, cure % words, log=f"doRebalance, {group}, add new mq failed")


def _without_owner(evidence: Evidence, share: TopicShare) -> Reason:
    if strategies(evidence.members) == [MACHINE_ROOM]:
        said = gettext(
            "Members share queues by machine room: queues of brokers in a room that no member names are "
            "assigned to nobody."
        )
        return Reason(said, gettext("Name every room with queues in the members' strategy."))
    why = evidence.shares.why or share.why
    because = why.sentence if why else gettext("no member computes it as its own")
    cure = gettext("Search the members' logs for the line: it names a member that the broker does not list.")
    log = f"[BUG] ConsumerGroup: {evidence.group.name} The consumerId: "
    return Reason(gettext("The expected owner is unknown: %s.") % because, cure, log=log)


def _gone_at(evidence: Evidence) -> datetime | None:
    """When the last of those that did not come back was seen to be gone."""
    present = [member.client_id for member in evidence.members]
    gone = Client.objects.filter(group=evidence.group).exclude(client_id__in=present)
    return gone.aggregate(at=Max("gone_by"))["at"]


def _last_held(evidence: Evidence, found: list[int]) -> dict[int, datetime]:
    rows = Assignment.objects.filter(group=evidence.group, queue__in=found).order_by()
    return dict(rows.values_list("queue_id").annotate(Max("gone_by")))
