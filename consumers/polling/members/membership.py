"""Who is in a group, asked of every broker; and which groups pop."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, QuerySet

from consumers.models import Client, ConsumerGroup
from consumers.polling.brokers.joined import kind_in_group
from consumers.polling.members.turn import AskedBroker, SweptBroker, Turn
from consumers.polling.reading import GroupMembers, Member
from consumers.rocketmq.bodies.client_bodies import ClientConnection, GroupConnections, Subscription
from consumers.rocketmq.wire.errors import RocketMQError
from consumers.rocketmq.wire.values import mq_version_name, time_of

# Asks every broker for the members of a group, since a client registers only with the brokers of its own topics.
#
# This costs one call per group and broker, so it has a budget; the groups not asked for the longest time come first.
Answer = tuple[AskedBroker, GroupConnections | RocketMQError]


async def read_groups(
    turn: Turn,
    brokers: Sequence[AskedBroker],
    groups: Sequence[str],
    unread: str | None,
    topics: Collection[str] | None,
) -> list[GroupMembers]:
    """One answer per group that was reached in time. `unread` names a broker that could not be asked at all: then no
    answer is complete.
    """
    until = asyncio.get_running_loop().time() + turn.budget.membership_seconds
    told = await asyncio.gather(*(SweptBroker(broker, turn, until).connections(groups) for broker in brokers))
    read = []
    for place, group in enumerate(groups):
        answers = [(broker, by_group[place]) for broker, by_group in zip(brokers, told, strict=True)]
        reached = [(broker, answer) for broker, answer in answers if answer is not None]
        if len(reached) == len(brokers):
            read.append(unite(group, reached, unread, topics))
    return read


def unite(
    group: str, answers: Sequence[Answer], unread: str | None = None, topics: Collection[str] | None = None
) -> GroupMembers:
    """All brokers' answers united; a member is reached through the first broker that lists it."""
    errors = [unread] if unread else []
    errors += [str(answer) for _, answer in answers if isinstance(answer, RocketMQError)]
    told = [(broker, answer) for broker, answer in answers if not isinstance(answer, RocketMQError)]
    spoken = next((answer for _, answer in told if answer.online), None)
    by_topic = {one.topic: one for _, answer in told for one in answer.subscriptions}
    return GroupMembers(
        group=group,
        members=tuple(_members(told)),
        consume_type=spoken.consume_type if spoken else None,
        message_model=spoken.message_model if spoken else None,
        consume_from_where=spoken.consume_from_where if spoken else None,
        subscriptions=tuple(
            {"topic": topic, "expression": one.expression, "expression_type": one.expression_type}
            for topic, one in sorted(by_topic.items())
        ),
        error=errors[0] if errors else None if answers else "No broker could be asked.",
        sub_version=newest_change(group, [one for _, answer in told for one in answer.subscriptions], topics),
        answered_by=tuple(broker.name for broker, _ in told),
    )


def newest_change(group: str, subscriptions: Sequence[Subscription], topics: Collection[str] | None) -> datetime | None:
    """The newest change by the clients' clocks, over shared topics: the group's own retry topics do not count.

    A topic that no broker has proves nothing: its subscribers update the time in each of their rounds, every 20 s,
    without a change (RocketMQ 5.4.0, RebalanceImpl.rebalanceByTopic).
    """
    times = [
        one.sub_version or 0
        for one in subscriptions
        if (topics is None or one.topic in topics) and kind_in_group(group, one.topic) != "retry"
    ]
    return time_of(max(times, default=None))


def _members(told: Sequence[tuple[AskedBroker, GroupConnections]]) -> Iterator[Member]:
    """Members by client id. A broker lists connections in no order (5.4.0, ConsumerConnection): the first by address
    stands for the member, so that each reading chooses the same one.
    """
    connections: dict[str, dict[str, tuple[str, ...]]] = {}
    first: dict[str, tuple[AskedBroker, ClientConnection]] = {}
    for broker, answer in told:
        for client in sorted(answer.clients, key=lambda client: client.address):
            first.setdefault(client.client_id, (broker, client))
            by_broker = connections.setdefault(client.client_id, {})
            by_broker[broker.name] = (*by_broker.get(broker.name, ()), client.address)
    for client_id in sorted(first):
        broker, client = first[client_id]
        yield Member(
            client_id=client_id,
            address=client.address,
            language=client.language,
            version=mq_version_name(client.version),
            broker_address=broker.address,
            connections=connections[client_id],
        )


# Which groups pop, as far as their present members report, and how many popped messages wait for their ack.
@dataclass(frozen=True)
class PopAnswer:
    """`pops` null: no member reported how it consumes. `unacked_messages` null: not every member reported it."""

    pops: bool | None
    unacked_messages: int | None


NO_ANSWER = PopAnswer(None, None)


def pop_answers(groups: QuerySet[ConsumerGroup] | Iterable[int]) -> dict[int, PopAnswer]:
    """By group id; groups without members are left out. Takes two queries; the second reads popped queues only."""
    members = Client.objects.filter(group__in=groups, gone_by=None)
    counted = members.order_by().values_list("group_id").annotate(Count("pk"), Count("pop_queues"))
    unacked: dict[int, int] = {}
    popping = members.exclude(pop_queues=None).exclude(pop_queues=[])
    for group, queues in popping.values_list("group_id", "pop_queues"):
        unacked[group] = unacked.get(group, 0) + sum(queue["wait_ack_count"] for queue in queues or ())
    return {
        group: _answer(all_told=told == present, none_told=not told, unacked=unacked.get(group))
        for group, present, told in counted
    }


def _answer(*, all_told: bool, none_told: bool, unacked: int | None) -> PopAnswer:
    """`unacked` null: no member that reported pops."""
    if none_told:
        return NO_ANSWER
    return PopAnswer(unacked is not None, (unacked or 0) if all_told else None)
