"""Expected owners of all queues of a group, only where everything they are computed from is known."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db.models import Q
from django.utils.translation import gettext, gettext_lazy

from consumers.models import Broker, ConsumerGroup, Queue
from consumers.ownership.shares.facts import (
    COLUMNS,
    EVERY_MEMBER,
    MESSAGE_MODEL,
    KnownQueue,
    MemberFacts,
    Sort,
    Why,
    is_broadcasting,
    members_at,
    why_ownerless,
)
from consumers.ownership.shares.topic_share import TopicShare, topic_share
from consumers.ownership.subscriptions import silence_words
from consumers.ownership.timeline.claims import Holders, holders_at
from consumers.queries.texts import iso
from consumers.rocketmq.allocation.strategies import CONSISTENT_HASH
from consumers.vocabulary.brokers import MASTER
from consumers.vocabulary.groups import BROADCASTING


# The shares of all topics of a group, or why they cannot be told for any of them.
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
    unread = {pk: gettext("clients do not read this queue") for pk, readable in read.items() if readable is False}
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
    return share.doubted(
        Why(
            Sort.CONFIGURATION,
            gettext("the configuration of %(topic)s on %(broker)s was not read") % {"topic": topic, "broker": unknown},
        )
    )


def _why_not_listed(group: ConsumerGroup, members: Sequence[MemberFacts], at: datetime | None) -> Why | None:
    if at is None and group.membership_error is not None:
        return Why(Sort.NOT_LISTED, gettext("some members are unknown: %(error)s") % {"error": group.membership_error})
    if at is None and group.membership_at is None:
        return Why(Sort.NOT_LISTED, gettext("no broker has reported the group's members yet"))
    if members:
        return None
    if at is not None:
        return Why(Sort.NO_MEMBER, gettext("no member was seen at %(at)s") % {"at": iso(at)})
    return Why(
        Sort.NO_MEMBER, gettext("the group has no member") if group.online is False else gettext("no member is known")
    )


def _why_not_shared(group: ConsumerGroup, members: Sequence[MemberFacts]) -> Why | None:
    if is_broadcasting(group):
        return Why(Sort.SHARED_BY_ALL, str(EVERY_MEMBER))
    if any((member.settings or {}).get(MESSAGE_MODEL) == BROADCASTING for member in members):
        return Why(Sort.MODELS, gettext("some members broadcast: they own every queue as well as the other members"))
    ownerless = why_ownerless(group)
    return Why(Sort.OWNERLESS, ownerless) if ownerless else None


def _why_not_computed(members: Sequence[MemberFacts], at: datetime | None) -> Why | None:
    for member in members:
        if not member.spoke:
            return Why(Sort.SILENT, silence_words(member.client_id, member.error))
        # Only a proxy's name holds a colon.
        if any(":" in name for name in member.connections):
            return Why(
                Sort.PROXY,
                gettext("%(client_id)s is connected to a proxy, which lists members of its own")
                % {"client_id": member.client_id},
            )
        if not member.connections:
            return Why(
                Sort.CONNECTIONS,
                gettext("the brokers that list %(client_id)s are not recorded yet") % {"client_id": member.client_id},
            )
        if at is not None and member.listed_since is not None and member.listed_since > at:
            return Why(
                Sort.CONNECTIONS,
                gettext("the brokers that listed %(client_id)s at %(at)s are unknown")
                % {"client_id": member.client_id, "at": iso(at)},
            )
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


# Who is to own each queue of a group: what its members compute, said only where everything they compute from is
# known.
#
# A topic's queues are shared among all members of the group, those among them that do not subscribe to it too.
@dataclass(frozen=True)
class ExpectedOwners:
    """By the queue's id: `owners`, an id once for each process that bears it, and `reasons` of those without.

    `why`: why nothing is said of any queue.
    """

    owners: Holders = field(default_factory=dict)
    reasons: Mapping[int, str] = field(default_factory=dict)
    why: str | None = None

    def of_queue(self, queue: int) -> tuple[str | None, str]:
        """The ids as one text, each once, and why it is null where it is."""
        if owners := self.owners.get(queue):
            return ", ".join(sorted(set(owners))), ""
        otherwise = gettext("no member subscribes to the topic")
        return None, self.why or self.reasons.get(queue, otherwise)


def expected_owners(group: ConsumerGroup, at: datetime | None = None) -> ExpectedOwners:
    """As of the newest answers, or of `at`, as far as rows tell of it. Seven queries at most."""
    shares = ring_checked(group_shares(group, at), lambda: holders_at(group, at))
    return expected_of(shares)


def expected_of(shares: GroupShares) -> ExpectedOwners:
    """Shares that `ring_checked` has looked at."""
    if shares.why is not None:
        return ExpectedOwners(why=shares.why.sentence)
    owners: dict[int, tuple[str, ...]] = {}
    reasons: dict[int, str] = dict(shares.unread)
    mixed = strategies(shares.members)
    for share in shares.topics.values():
        why = share.why.sentence if share.why else None
        if why is None and len(mixed) > 1:
            why = gettext("members use different strategies: %(strategies)s") % {"strategies": ", ".join(mixed)}
        if why is not None:
            reasons |= dict.fromkeys(share.queues, why)
            continue
        owners |= share.owners
        reasons |= {queue: _unowned(share, queue, shares) for queue in share.queues if queue not in share.owners}
    return ExpectedOwners(owners, reasons)


def _unowned(share: TopicShare, queue: int, shares: GroupShares) -> str:
    if fallen := share.fallen.get(queue):
        return gettext("assigned to %(members)s, which does not subscribe to %(topic)s") % {
            "topic": share.topic,
            "members": ", ".join(sorted(set(fallen))),
        }
    shared = [member.client_id for member in shares.members if member.processes > 1]
    if shared:
        return gettext("assigned to nobody: processes share the client id %(client_ids)s") % {
            "client_ids": ", ".join(shared)
        }
    return gettext("assigned to nobody")


# A ring (CONSISTENT_HASH) is built with a number of virtual nodes and a hash that clients do not tell.
#
# The default ones are taken for theirs for as long as nobody holds a queue that the default ring gives to another.
OTHER_RING = gettext_lazy(
    "members use a hash ring (CONSISTENT_HASH) whose virtual nodes they do not report, and own "
    "other queues than the default ring assigns"
)


def ring_checked(shares: GroupShares, holders: Callable[[], Holders]) -> GroupShares:
    """`holders` by the queue's id: asked for only where there is a ring."""
    if shares.why is not None or not is_ring(shares.members):
        return shares
    held = holders()
    if not any(_contradicts(share, held) for share in shares.topics.values()):
        return shares
    topics = {
        topic: share if share.why else share.doubted(Why(Sort.RING, str(OTHER_RING)))
        for topic, share in shares.topics.items()
    }
    return replace(shares, topics=topics)


def _contradicts(share: TopicShare, held: Holders) -> bool:
    return share.why is None and any(
        client_id not in share.owners.get(queue, ()) for queue in share.queues for client_id in held.get(queue, ())
    )
