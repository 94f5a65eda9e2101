"""What findings are made of: members, what they hold and compute, and the queues that a cause affects."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import groupby

from django.utils.translation import gettext, ngettext

from consumers.models import Assignment, ConsumerGroup
from consumers.ownership.finding import Kind
from consumers.ownership.shares.facts import MemberFacts, Sort
from consumers.ownership.shares.group_shares import GroupShares, strategies
from consumers.ownership.shares.topic_share import TopicShare
from consumers.queries.texts import count, place
from consumers.rocketmq.allocation.strategies import QueueKey
from consumers.rocketmq.names import RETRY_PREFIX

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
    def members(self) -> Sequence[MemberFacts]:
        return self.shares.members

    @property
    def topics(self) -> Iterator[TopicShare]:
        return (share for topic, share in self.shares.topics.items() if not topic.startswith(RETRY_PREFIX))

    @property
    def is_calm(self) -> bool:
        changed = self.group.members_changed_at
        return self.group.settled_at is not None and (changed is None or self.now - changed >= CALM)

    @property
    def silent(self) -> list[MemberFacts]:
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


# Members and queues in sentences, many of them as few words.
MOST_IDS, MOST_PLACES = 4, 3


def ids(client_ids: Iterable[str]) -> str:
    """`c1, c2, c3 and 9 more`."""
    named = sorted(set(client_ids))
    if len(named) <= MOST_IDS:
        return ", ".join(named)
    shown = ", ".join(named[: MOST_IDS - 1])
    return gettext("%(ids)s and %(n)s more") % {"ids": shown, "n": count(len(named) - MOST_IDS + 1)}


def queues(found: Sequence[QueueKey]) -> str:
    """`queue 3 of Orders on broker-a`, `6 queues of Orders on broker-a (0–5)`, `412 queues of 3 topics`."""
    places = [
        place(topic, broker, [queue.queue_id for queue in of_broker])
        for (topic, broker), of_broker in groupby(sorted(found), key=lambda queue: (queue.topic, queue.broker))
    ]
    if len(places) <= MOST_PLACES:
        return gettext(" and ").join(places)
    topics = sorted({queue.topic for queue in found})
    words = {"queues": queue_count(len(found)), "topics": ids(topics)}
    return gettext("%(queues)s of %(topics)s") % words


def queue_count(number: int) -> str:
    return ngettext("%(n)s queue", "%(n)s queues", number) % {"n": count(number)}


# Which queues a cause leaves to nobody or gives to two: told with their cause, and not once more without it.
Queues = dict[Kind, list[tuple[TopicShare, int]]]


@dataclass(frozen=True)
class Effect:
    """What one cause leads to."""

    unowned: Sequence[QueueKey]
    doubly_owned: Sequence[QueueKey]

    @property
    def sentences(self) -> str:
        """To be put after the cause."""
        said = [gettext(" Consumed by two: %s.") % queues(self.doubly_owned)] if self.doubly_owned else []
        said += [gettext(" Not consumed: %s.") % queues(self.unowned)] if self.unowned else []
        return "".join(said)


@dataclass(frozen=True)
class Effects:
    unowned: Queues = field(default_factory=dict)
    doubly_owned: Queues = field(default_factory=dict)

    def of(self, kind: Kind) -> Effect:
        unowned, doubly_owned = (
            sorted(share.queues[queue] for share, queue in found.get(kind, ()))
            for found in (self.unowned, self.doubly_owned)
        )
        return Effect(unowned, doubly_owned)


def effects(evidence: Evidence) -> Effects:
    found = Effects()
    for share in evidence.topics:
        for queue in evidence.nobodys(share):
            found.unowned.setdefault(_cause_of_none(evidence, share, queue), []).append((share, queue))
        for queue in _held_by_processes(evidence, share):
            found.doubly_owned.setdefault(Kind.DUPLICATE_IDS, []).append((share, queue))
        for queue in evidence.held_twice(share):
            found.doubly_owned.setdefault(_cause_of_two(evidence, share), []).append((share, queue))
    return found


def _cause_of_none(evidence: Evidence, share: TopicShare, queue: int) -> Kind:
    if share.why is not None and share.why.sort is Sort.LISTS:
        return Kind.BROKERS_DIFFER
    if queue in share.fallen:
        return Kind.SUBSCRIPTIONS
    computed_by_nobody = evidence.shares.why is None and queue not in share.owners
    if computed_by_nobody and len(strategies(evidence.members)) > 1:
        return Kind.STRATEGIES
    if computed_by_nobody and share.why is None and any(member.processes > 1 for member in evidence.members):
        return Kind.DUPLICATE_IDS
    return Kind.UNOWNED


def _cause_of_two(evidence: Evidence, share: TopicShare) -> Kind:
    if share.why is not None and share.why.sort is Sort.LISTS:
        return Kind.BROKERS_DIFFER
    if evidence.shares.why is not None and evidence.shares.why.sort is Sort.MODELS:
        return Kind.SETTINGS
    return Kind.STRATEGIES if len(strategies(evidence.members)) > 1 else Kind.DOUBLY_OWNED


def _held_by_processes(evidence: Evidence, share: TopicShare) -> list[int]:
    """A broker asks one of the processes with an id: that both hold a queue follows from what they compute."""
    if not (evidence.is_calm and evidence.has_owners(share)) or share.why is not None:
        return []
    return [
        queue
        for queue, owners in share.owners.items()
        if len(set(owners)) < len(owners) and {one.client_id for one in evidence.held.get(queue, ())} <= set(owners)
    ]
