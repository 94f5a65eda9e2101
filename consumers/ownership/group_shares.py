"""Computes the expected owner of each queue of a group; unknown where any input is unknown."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db.models import Q
from django.utils.translation import gettext, gettext_lazy

from consumers.models import Broker, ConsumerGroup, Queue
from consumers.models.asked_once import asked_once
from consumers.ownership.segments import Holders, holders_at
from consumers.rocketmq.allocation import (
    CONSISTENT_HASH,
    NotSimulable,
    QueueKey,
    Shares,
    allocate,
    java_order,
    named_strategy,
)
from consumers.vocabulary.states import BROADCASTING, MASTER
from consumers.words.marks import listed
from consumers.words.reasons import stored_words
from consumers.words.spans import when

from .reports import (
    COLUMNS,
    EVERY_MEMBER,
    MESSAGE_MODEL,
    KnownQueue,
    MemberReport,
    Sort,
    Why,
    is_broadcasting,
    members_at,
    why_ownerless,
)
from .subscriptions import silence_words

# Who is to own the queues of one topic: what its members compute, each for itself, from the same lists. Pure.
POP = "POP"

Lists = Mapping[str, Counter[str]]  # by broker, how many processes bear each id


@dataclass(frozen=True)
class TopicShare:
    """`owners` by the queue's id, an id once for each process that bears it; a queue of nobody is in neither.

    `fallen`: to whom queues fall that do not subscribe to the topic, so that nobody consumes them: a topic's queues are
    shared among all members of the group. `readable_since` where that was noted. `lists`: the brokers' own, that must
    agree; a slave's is not the master's. `why`: what makes the shares doubtful, or leaves them empty.
    """

    topic: str
    queues: Mapping[int, QueueKey]
    readable_since: Mapping[int, datetime]
    owners: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    fallen: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    lists: Lists = field(default_factory=dict)
    why: Why | None = None

    def doubted(self, why: Why) -> "TopicShare":
        return replace(self, why=why)


def topic_share(
    topic: str, queues: Sequence[KnownQueue], members: Sequence[MemberReport], stand_ins: Collection[str]
) -> TopicShare:
    """`queues`: those that can be read, all members having spoken. `stand_ins`: brokers for which a slave answers."""
    keys = {queue.pk: queue.key for queue in queues}
    empty = TopicShare(topic, keys, {queue.pk: since for queue in queues if (since := queue.there_since) is not None})
    if not keys or not members:
        return empty
    lists = _lists({key.broker for key in keys.values()} - set(stand_ins), members)
    empty, listed = replace(empty, lists=lists), _agreed(topic, lists)
    if isinstance(listed, Why):
        return empty.doubted(listed)
    own = _own_shares(topic, list(keys.values()), members, listed)
    return empty.doubted(own) if isinstance(own, Why) else _joined(empty, members, own, listed)


def _lists(brokers: Iterable[str], members: Sequence[MemberReport]) -> Lists:
    """How many processes bear each id, by the list that each broker gives."""
    return {
        broker: Counter({member.client_id: len(member.connections.get(broker, ())) for member in members})
        for broker in sorted(brokers)
    }


def _agreed(topic: str, lists: Lists) -> Counter[str] | Why:
    if not lists:
        return Why(
            Sort.CONNECTIONS,
            gettext("slaves answer for all brokers of %(topic)s: the members that the masters list are unknown")
            % {"topic": topic},
        )
    first, agreed = next(iter(lists.items()))
    for broker, others in lists.items():
        # Counters that lack an id equal those that count it as none.
        if others != agreed:
            return Why(
                Sort.LISTS,
                gettext("%(first)s and %(broker)s list different members, and each client asks one of them")
                % {"first": first, "broker": broker},
            )
    return agreed


def _own_shares(
    topic: str, queues: Sequence[QueueKey], members: Sequence[MemberReport], listed: Counter[str]
) -> Shares | Why:
    """What each takes to be its own. Clients of different strategies compute each by its own."""
    by_strategy: dict[str, Shares] = {}
    own: Shares = {}
    for member in members:
        if member.is_given_queues:
            given = _given(topic, member)
            if isinstance(given, Why):
                return given
            own[member.client_id] = given
            continue
        if member.strategy is None:
            return Why(
                Sort.NOT_SIMULABLE,
                gettext("%(client_id)s does not report its strategy") % {"client_id": member.client_id},
            )
        if member.strategy not in by_strategy:
            strategy = named_strategy(member.strategy)
            if isinstance(strategy, NotSimulable):
                return Why(Sort.NOT_SIMULABLE, strategy.reason)
            by_strategy[member.strategy] = allocate(strategy, queues, listed.elements()) if listed.total() else {}
        own[member.client_id] = by_strategy[member.strategy].get(member.client_id, ())
    return own


def _given(topic: str, member: MemberReport) -> tuple[QueueKey, ...] | Why:
    if member.assigned is None:
        return Why(
            Sort.GIVEN,
            gettext("a broker assigns the queues of %(client_id)s, and has not reported them yet")
            % {"client_id": member.client_id},
        )
    ours = [one for one in member.assigned if one["topic"] == topic]
    if any(one.get("mode") == POP for one in ours):
        return Why(
            Sort.OWNERLESS,
            gettext("messages of %(topic)s are popped: none of its queues has an owner") % {"topic": topic},
        )
    return tuple(QueueKey(topic, str(one["broker"]), int(one["queue_id"])) for one in ours)


def _joined(empty: TopicShare, members: Sequence[MemberReport], own: Shares, listed: Counter[str]) -> TopicShare:
    ids = {key: pk for pk, key in empty.queues.items()}
    owners: dict[int, tuple[str, ...]] = {}
    fallen: dict[int, tuple[str, ...]] = {}
    for member in sorted(members, key=lambda one: java_order(one.client_id)):
        found = owners if member.subscribes(empty.topic) else fallen
        for key in own[member.client_id]:
            if (pk := ids.get(key)) is not None:
                found[pk] = found.get(pk, ()) + (member.client_id,) * max(1, listed[member.client_id])
    return replace(empty, owners=owners, fallen=fallen)


# The shares of all topics of a group, or why they cannot be told for any of them.
@dataclass(frozen=True)
class GroupShares:
    """`why`: what holds for every topic. `unread`: queues that clients do not read, by id, each with the reason."""

    members: Sequence[MemberReport]
    topics: Mapping[str, TopicShare]
    why: Why | None
    unread: Mapping[int, str]


@asked_once
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
    members: Sequence[MemberReport],
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


def _why_not_listed(group: ConsumerGroup, members: Sequence[MemberReport], at: datetime | None) -> Why | None:
    if at is None and group.membership_error is not None:
        return Why(
            Sort.NOT_LISTED,
            gettext("some members are unknown: %(error)s") % {"error": stored_words(group.membership_error)},
        )
    if at is None and group.membership_at is None:
        return Why(Sort.NOT_LISTED, gettext("no broker has reported the group's members yet"))
    if members:
        return None
    if at is not None:
        return Why(Sort.NO_MEMBER, gettext("no member was seen at %(at)s") % {"at": when(at)})
    return Why(
        Sort.NO_MEMBER, gettext("the group has no member") if group.online is False else gettext("no member is known")
    )


def _why_not_shared(group: ConsumerGroup, members: Sequence[MemberReport]) -> Why | None:
    if is_broadcasting(group):
        return Why(Sort.SHARED_BY_ALL, str(EVERY_MEMBER))
    if any((member.settings or {}).get(MESSAGE_MODEL) == BROADCASTING for member in members):
        return Why(Sort.MODELS, gettext("some members broadcast: they own every queue as well as the other members"))
    ownerless = why_ownerless(group)
    return Why(Sort.OWNERLESS, ownerless) if ownerless else None


def _why_not_computed(members: Sequence[MemberReport], at: datetime | None) -> Why | None:
    for member in members:
        if not member.has_answered:
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
                % {"client_id": member.client_id, "at": when(at)},
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


def strategies(members: Iterable[MemberReport]) -> list[str]:
    return sorted({member.strategy for member in members if member.strategy and not member.is_given_queues})


def is_ring(members: Sequence[MemberReport]) -> bool:
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
    """Returns the expected owners as of the newest answers, or as of `at`, as far as rows show it. Seven queries at
    most."""
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
            why = gettext("members use different strategies: %(strategies)s") % {"strategies": listed(mixed)}
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
            "members": listed(sorted(set(fallen))),
        }
    shared = [member.client_id for member in shares.members if member.processes > 1]
    if shared:
        return gettext("assigned to nobody: processes share the client id %(client_ids)s") % {
            "client_ids": listed(shared)
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
