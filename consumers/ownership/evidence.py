"""Queues that nobody consumes, that two members hold, or that another member holds than expected; and the input of all
ownership checks: members, their reported and expected queues, and the queues that a cause affects.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Max

from consumers.models import Assignment, Client, ConsumerGroup
from consumers.ownership.group_shares import GroupShares, TopicShare, strategies
from consumers.ownership.reports import MemberReport, Sort
from consumers.queries.findings import DetectedFinding
from consumers.rocketmq.allocation import MACHINE_ROOM, QueueKey
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.vocabulary.findings import FindingCode

# What findings are told by: members, what they hold, and what they compute. Retry topics are left out.
#
# Two readings must agree: a group whose members, queues or subscriptions are just changing is only said to be
# settling.
# Clients share queues anew every 20 s (RocketMQ 5.4.0, RebalanceService), and two of them may be as far apart.
STABLE_AFTER = timedelta(seconds=40)

# A client looks for changed topics every 30 s and registers with the brokers of them as often (MQClientInstance).
ROUTE = timedelta(seconds=120)

# A member that did not answer once is not silent.
PATIENCE = timedelta(seconds=120)

OWNERLESS = (Sort.SHARED_BY_ALL, Sort.OWNERLESS)


@dataclass(frozen=True)
class Held:
    client_id: str
    seen_since: datetime
    locked: bool | None
    last_lock_at: datetime | None
    last_pull_at: datetime | None
    last_consume_at: datetime | None


@dataclass(frozen=True)
class Evidence:
    """`held` by the queue's id, by the newest answers."""

    group: ConsumerGroup
    now: datetime
    shares: GroupShares
    held: Mapping[int, tuple[Held, ...]]

    @property
    def members(self) -> Sequence[MemberReport]:
        return self.shares.members

    @property
    def topics(self) -> Iterator[TopicShare]:
        return (share for topic, share in self.shares.topics.items() if not topic.startswith(RETRY_PREFIX))

    @property
    def is_stable(self) -> bool:
        changed = self.group.members_changed_at
        return self.group.settled_at is not None and (changed is None or self.now - changed >= STABLE_AFTER)

    @property
    def silent(self) -> list[MemberReport]:
        """Who was asked last without an answer, and who was never asked."""
        return [member for member in self.members if member.error is not None or not member.has_answered]

    @property
    def queues_have_owners(self) -> bool:
        """One each; not where everyone owns everything, or where nobody says what it owns."""
        return self.shares.why is None or self.shares.why.sort not in OWNERLESS

    def has_owners(self, share: TopicShare) -> bool:
        return self.queues_have_owners and not (share.why and share.why.sort in OWNERLESS)

    def is_known_by_clients(self, share: TopicShare, queue: int) -> bool:
        since = share.readable_since.get(queue)
        return since is None or self.now - since >= ROUTE

    def nobodys(self, share: TopicShare) -> list[int]:
        """Queues that nobody holds, and everybody has had the time to tell."""
        return [] if self.silent else self._without_holder(share)

    def held_twice(self, share: TopicShare) -> list[int]:
        """A silent member keeps what it held: that proves nothing."""
        silent = {member.client_id for member in self.silent}
        return [
            queue
            for queue in self._with_two_holders(share)
            if silent.isdisjoint(one.client_id for one in self.held[queue])
        ]

    def is_doubtful(self, share: TopicShare) -> bool:
        """By the newest answers, nobody or two hold a queue; a member that is silent may know better."""
        found = len(self.nobodys(share)) + len(self.held_twice(share))
        return found < len(self._without_holder(share)) + len(self._with_two_holders(share))

    def _without_holder(self, share: TopicShare) -> list[int]:
        if not (self.is_stable and self.has_owners(share)):
            return []
        return [queue for queue in share.queues if queue not in self.held and self.is_known_by_clients(share, queue)]

    def _with_two_holders(self, share: TopicShare) -> list[int]:
        if not (self.is_stable and self.has_owners(share)):
            return []
        return [queue for queue in share.queues if len(self.held.get(queue, ())) > 1]


def held_queues(group: ConsumerGroup) -> dict[int, tuple[Held, ...]]:
    """One query."""
    columns = ("client_id", "seen_since", "locked", "last_lock_at", "last_pull_at", "last_consume_at")
    held: dict[int, tuple[Held, ...]] = {}
    rows = Assignment.objects.filter(group=group, gone_by=None).order_by("client_id")
    for queue, *values in rows.values_list("queue_id", *columns):
        held[queue] = (*held.get(queue, ()), Held(*values))
    return held


def keys(share: TopicShare, queues: Sequence[int]) -> list[QueueKey]:
    return sorted(share.queues[queue] for queue in queues)


# Which queues a cause leaves to nobody or gives to two: told with their cause, and not once more without it.
# Queues of nobody without another cause: `unowned` says why.
UNOWNED = FindingCode.UNOWNED_UNKNOWN_OWNER
Queues = dict[FindingCode, list[tuple[TopicShare, int]]]


@dataclass(frozen=True)
class Effect:
    """What one cause leads to."""

    unowned: Sequence[QueueKey]
    doubly_owned: Sequence[QueueKey]


@dataclass(frozen=True)
class Effects:
    unowned: Queues = field(default_factory=dict)
    doubly_owned: Queues = field(default_factory=dict)

    def of(self, code: FindingCode) -> Effect:
        unowned, doubly_owned = (
            sorted(share.queues[queue] for share, queue in found.get(code, ()))
            for found in (self.unowned, self.doubly_owned)
        )
        return Effect(unowned, doubly_owned)


def effects(evidence: Evidence) -> Effects:
    found = Effects()
    for share in evidence.topics:
        for queue in evidence.nobodys(share):
            found.unowned.setdefault(_cause_of_none(evidence, share, queue), []).append((share, queue))
        for queue in _held_by_processes(evidence, share):
            found.doubly_owned.setdefault(FindingCode.DUPLICATE_CLIENT_IDS, []).append((share, queue))
        for queue in evidence.held_twice(share):
            found.doubly_owned.setdefault(_cause_of_two(evidence, share), []).append((share, queue))
    return found


def _cause_of_none(evidence: Evidence, share: TopicShare, queue: int) -> FindingCode:
    if share.why is not None and share.why.sort is Sort.LISTS:
        return FindingCode.BROKERS_DIFFER
    if queue in share.fallen:
        return FindingCode.SUBSCRIPTIONS_DIFFER
    computed_by_nobody = evidence.shares.why is None and queue not in share.owners
    if computed_by_nobody and len(strategies(evidence.members)) > 1:
        return FindingCode.STRATEGIES_DIFFER
    if computed_by_nobody and share.why is None and any(member.processes > 1 for member in evidence.members):
        return FindingCode.DUPLICATE_CLIENT_IDS
    return UNOWNED


def _cause_of_two(evidence: Evidence, share: TopicShare) -> FindingCode:
    if share.why is not None and share.why.sort is Sort.LISTS:
        return FindingCode.BROKERS_DIFFER
    if evidence.shares.why is not None and evidence.shares.why.sort is Sort.MODELS:
        return FindingCode.SETTINGS_DIFFER
    return FindingCode.STRATEGIES_DIFFER if len(strategies(evidence.members)) > 1 else FindingCode.DOUBLY_OWNED


def _held_by_processes(evidence: Evidence, share: TopicShare) -> list[int]:
    """A broker asks one of the processes with an id: that both hold a queue follows from what they compute."""
    if not (evidence.is_stable and evidence.has_owners(share)) or share.why is not None:
        return []
    return [
        queue
        for queue, owners in share.owners.items()
        if len(set(owners)) < len(owners) and {one.client_id for one in evidence.held.get(queue, ())} <= set(owners)
    ]


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
    if not evidence.is_stable or evidence.shares.why is not None or len(strategies(evidence.members)) > 1:
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
