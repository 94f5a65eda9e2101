"""The input of ownership checks: members, their reported and expected queues, and the queues that a cause affects."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from consumers.models import Assignment, ConsumerGroup
from consumers.ownership.group_shares import GroupShares, TopicShare, strategies
from consumers.ownership.reports import MemberReport, Sort
from consumers.rocketmq.allocation import QueueKey
from consumers.rocketmq.names import RETRY_PREFIX
from consumers.vocabulary.findings import FindingCode

# What findings are told by: members, what they hold, and what they compute. Retry topics are left out.
#
# Two readings must agree: a group whose members, queues or subscriptions are just changing is only said to be
# settling.
# Clients share queues anew every 20 s (RocketMQ 5.4.0, RebalanceService), and two of them may be as far apart.
CALM = timedelta(seconds=40)

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
    def is_calm(self) -> bool:
        changed = self.group.members_changed_at
        return self.group.settled_at is not None and (changed is None or self.now - changed >= CALM)

    @property
    def silent(self) -> list[MemberReport]:
        """Who was asked last without an answer, and who was never asked."""
        return [member for member in self.members if member.error is not None or not member.spoke]

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
        if not (self.is_calm and self.has_owners(share)) or self.silent:
            return []
        return [queue for queue in share.queues if queue not in self.held and self.is_known_by_clients(share, queue)]

    def held_twice(self, share: TopicShare) -> list[int]:
        """A silent member keeps what it held: that proves nothing."""
        if not (self.is_calm and self.has_owners(share)):
            return []
        silent = {member.client_id for member in self.silent}
        return [
            queue
            for queue in share.queues
            if len(holders := self.held.get(queue, ())) > 1 and silent.isdisjoint(one.client_id for one in holders)
        ]


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
    if not (evidence.is_calm and evidence.has_owners(share)) or share.why is not None:
        return []
    return [
        queue
        for queue, owners in share.owners.items()
        if len(set(owners)) < len(owners) and {one.client_id for one in evidence.held.get(queue, ())} <= set(owners)
    ]
