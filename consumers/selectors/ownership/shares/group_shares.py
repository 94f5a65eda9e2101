"""The shares of all topics of a group, or why they cannot be told for any of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from consumers.models import Broker, ConsumerGroup, Queue
from consumers.rocketmq.allocation.named import CONSISTENT_HASH
from consumers.selectors.clusters.brokers import MASTER
from consumers.selectors.queues.overlay import iso
from consumers.vocabulary.groups import BROADCASTING

from .known_queue import COLUMNS, KnownQueue
from .member_facts import MESSAGE_MODEL, MemberFacts, members_at
from .sharing import EVERY_MEMBER, is_broadcasting, why_ownerless
from .topic_share import TopicShare, topic_share
from .why import Sort, Why


@dataclass(frozen=True)
class GroupShares:
    """`why`: what holds for every topic. `unread`: queues that clients do not read, by id, each with the reason."""

    members: Sequence[MemberFacts]
    topics: Mapping[str, TopicShare]
    why: Why | None
    unread: Mapping[int, str]


def group_shares(group: ConsumerGroup, at: datetime | None = None) -> GroupShares:
    """As of now or of `at`. Six queries at most."""
    members = members_at(group, at)
    why = _why_not_listed(group, members, at) or _why_not_shared(group, members) or _why_not_computed(members, at)
    topics = sorted({topic for member in members for topic in member.expressions or ()})
    brokers = _brokers(group, at)
    queues = _queues(group, topics, brokers)
    read = {queue.pk: queue.was_readable(at) for queues_of in queues.values() for queue in queues_of}
    unread = {pk: "clients do not read this queue" for pk, readable in read.items() if readable is False}
    sharing = members if why is None else ()
    stand_ins = {name for name, is_slave in brokers.items() if is_slave and at is None}
    shares = {topic: _share(topic, queues.get(topic, ()), read, sharing, stand_ins) for topic in topics}
    return GroupShares(members, shares, why, unread)


def _share(
    topic: str,
    queues: Sequence[KnownQueue],
    read: Mapping[int, bool | None],
    members: Sequence[MemberFacts],
    stand_ins: Collection[str],
) -> TopicShare:
    share = topic_share(topic, [queue for queue in queues if read[queue.pk]], members, stand_ins)
    unknown = next((queue.broker for queue in queues if read[queue.pk] is None), None)
    if unknown is None or share.why is not None:
        return share
    return share.doubted(Why(Sort.CONFIGURATION, f"the configuration of {topic} on {unknown} was not read"))


def _why_not_listed(group: ConsumerGroup, members: Sequence[MemberFacts], at: datetime | None) -> Why | None:
    if at is None and group.membership_error is not None:
        return Why(Sort.NOT_LISTED, f"not every member is known: {group.membership_error}")
    if at is None and group.membership_at is None:
        return Why(Sort.NOT_LISTED, "no broker has said yet who is in the group")
    if members:
        return None
    if at is not None:
        return Why(Sort.NO_MEMBER, f"no member was seen at {iso(at)}")
    return Why(Sort.NO_MEMBER, "the group has no member" if group.online is False else "no member of it is known")


def _why_not_shared(group: ConsumerGroup, members: Sequence[MemberFacts]) -> Why | None:
    if is_broadcasting(group):
        return Why(Sort.SHARED_BY_ALL, EVERY_MEMBER)
    if any((member.settings or {}).get(MESSAGE_MODEL) == BROADCASTING for member in members):
        return Why(Sort.MODELS, "some of its members broadcast: they own every queue beside the others")
    ownerless = why_ownerless(group)
    return Why(Sort.OWNERLESS, ownerless) if ownerless else None


def _why_not_computed(members: Sequence[MemberFacts], at: datetime | None) -> Why | None:
    for member in members:
        if not member.spoke:
            said = f": {member.error}" if member.error else ""
            return Why(Sort.SILENT, f"{member.client_id} has not said what it subscribes to{said}")
        # Only a proxy's name holds a colon.
        if any(":" in name for name in member.connections):
            return Why(Sort.PROXY, f"{member.client_id} is connected to a proxy, which lists members of its own")
        if not member.connections:
            return Why(Sort.CONNECTIONS, f"which brokers list {member.client_id} was not noted yet")
        if at is not None and member.listed_since is not None and member.listed_since > at:
            return Why(Sort.CONNECTIONS, f"which brokers listed {member.client_id} at {iso(at)} is not known")
    return None


def _brokers(group: ConsumerGroup, at: datetime | None) -> dict[str, bool]:
    """Those that are read, and whether a slave is in the master's place. Of those that were taken away rows stay."""
    alive = Q(failing_since=None) if at is None else Q(failing_since=None) | Q(failing_since__gt=at)
    read = Broker.objects.filter(alive, cluster=group.cluster_id, broker_id=MASTER)
    return {name: read_from is not None for name, read_from in read.values_list("name", "read_from")}


def _queues(group: ConsumerGroup, topics: Iterable[str], brokers: Iterable[str]) -> dict[str, list[KnownQueue]]:
    rows = Queue.objects.filter(topic__cluster=group.cluster_id, topic__name__in=topics, broker__in=brokers)
    found: dict[str, list[KnownQueue]] = {}
    for queue in map(KnownQueue._make, rows.values_list(*COLUMNS)):
        found.setdefault(queue.topic, []).append(queue)
    return found


def strategies(members: Iterable[MemberFacts]) -> list[str]:
    return sorted({member.strategy for member in members if member.strategy and not member.is_given_queues})


def is_ring(members: Sequence[MemberFacts]) -> bool:
    return strategies(members) == [CONSISTENT_HASH]
