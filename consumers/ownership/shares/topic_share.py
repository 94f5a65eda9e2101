"""Expected owners of the queues of one topic: what its members compute, each for itself. Pure."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.utils.translation import gettext

from consumers.ownership.shares.facts import KnownQueue, MemberFacts, Sort, Why
from consumers.rocketmq.allocation.allocate import allocate
from consumers.rocketmq.allocation.strategies import NotSimulable, QueueKey, Shares, java_order, named_strategy

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
    topic: str, queues: Sequence[KnownQueue], members: Sequence[MemberFacts], stand_ins: Collection[str]
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


def _lists(brokers: Iterable[str], members: Sequence[MemberFacts]) -> Lists:
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
    topic: str, queues: Sequence[QueueKey], members: Sequence[MemberFacts], listed: Counter[str]
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


def _given(topic: str, member: MemberFacts) -> tuple[QueueKey, ...] | Why:
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


def _joined(empty: TopicShare, members: Sequence[MemberFacts], own: Shares, listed: Counter[str]) -> TopicShare:
    ids = {key: pk for pk, key in empty.queues.items()}
    owners: dict[int, tuple[str, ...]] = {}
    fallen: dict[int, tuple[str, ...]] = {}
    for member in sorted(members, key=lambda one: java_order(one.client_id)):
        found = owners if member.subscribes(empty.topic) else fallen
        for key in own[member.client_id]:
            if (pk := ids.get(key)) is not None:
                found[pk] = found.get(pk, ()) + (member.client_id,) * max(1, listed[member.client_id])
    return replace(empty, owners=owners, fallen=fallen)
