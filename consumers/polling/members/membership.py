"""Who is in a group, asked of every broker; and which groups pop."""

import asyncio
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, QuerySet

from consumers.models import Client, ConsumerGroup
from consumers.models.asked_once import asked_once
from consumers.polling.brokers.joined import kind_in_group
from consumers.polling.memory import is_busy
from consumers.polling.reading import GroupMembers, Member
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.client_bodies import ClientConnection, GroupConnections, Subscription
from consumers.rocketmq.wire.codes import BrokerRefused, RocketMQError, mq_version_name, time_of
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.vocabulary.reasons import PollProblem, stored_reason
from consumers.vocabulary.times import iso

# Whom a reading may ask about members: its budget, silent clients, and one broker in one sweep.


@dataclass(frozen=True)
class Budget:
    """The budget of one reading. After its seconds a round starts no more calls; running calls have their own deadline.

    `patience_seconds`: for this long after a change, a group is asked in every reading.
    """

    membership_calls: int
    running_info_calls: int
    membership_seconds: float = 5.0
    running_info_seconds: float = 5.0
    patience_seconds: float = 120.0


@dataclass(frozen=True)
class AskedBroker:
    """`name` is the broker's name. For a proxy, or a slave that stands in for its master, it is the address.

    Proxies do not forward requests to their clients.
    """

    name: str
    address: str
    passes_on: bool = True

    @classmethod
    def proxy(cls, address: str) -> "AskedBroker":
        return cls(address, address, passes_on=False)


@dataclass(frozen=True)
class Turn:
    pool: ConnectionPool
    budget: Budget
    now: datetime
    deadline_seconds: float


# One broker in one sweep over the groups: few calls in parallel, and no more after the broker fell silent or was busy.
# Half of a broker's 16 threads for admin calls (RocketMQ 5.4.0, BrokerController, adminBrokerExecutor).
AT_ONCE = 8


class SweptBroker:
    """`until` is a time of the event loop."""

    def __init__(self, broker: AskedBroker, turn: Turn, until: float) -> None:
        self.broker = broker
        self._admin = BrokerAdmin(turn.pool, broker.address)
        self._deadline_seconds = turn.deadline_seconds
        self._until = until
        self._clock = asyncio.get_running_loop().time
        self._stopped_by: RocketMQError | None = None

    async def connections(self, groups: Sequence[str]) -> list[GroupConnections | RocketMQError | None]:
        """The broker's answer about each group, or the reason why there is none. After a failure, each remaining group
        gets the same reason.

        None: the time was up before the group's turn.
        """
        answers: list[GroupConnections | RocketMQError | None] = [None] * len(groups)
        left = iter(enumerate(groups))

        async def ask() -> None:
            for place, group in left:
                answers[place] = await self._connections(group)

        await asyncio.gather(*(ask() for _ in range(AT_ONCE)))
        return answers

    async def _connections(self, group: str) -> GroupConnections | RocketMQError | None:
        if self._stopped_by is not None:
            return self._stopped_by
        if self._clock() >= self._until:
            return None
        try:
            return await self._admin.connections(group, deadline_seconds=self._deadline_seconds)
        except RocketMQError as error:
            if is_busy(error) or not isinstance(error, BrokerRefused):
                self._stopped_by = error
            return error


# Clients that did not answer, and when each group was asked last: the planner's memory between two readings.
#
# A hanging client holds one of the broker's threads for 10 s (RocketMQ 5.4.0, Broker2Client). Losing this memory costs
# a few calls, never a figure.
# A single silence may be the broker's fault. From the second silence in a row on, a client is asked at a lower rate.
PAUSE_SECONDS = 60.0

KEPT = timedelta(hours=1)

Whom = tuple[str, str]  # group, client id


@dataclass(frozen=True)
class Silence:
    times: int
    at: datetime
    error: str

    @property
    def until(self) -> datetime | None:
        return self.at + timedelta(seconds=PAUSE_SECONDS) if self.times > 1 else None


@dataclass
class Silences:
    """`asked_at`: when each group's members were last asked, whether or not a member answered."""

    silent: dict[Whom, Silence] = field(default_factory=dict)
    asked_at: dict[str, datetime] = field(default_factory=dict)

    def not_asked(self, whom: Whom, now: datetime) -> str | None:
        """Why the client is not asked; None if its turn has come."""
        silence = self.silent.get(whom)
        if silence is None or silence.until is None or now >= silence.until:
            return None
        times = {"asked": iso(silence.at), "until": iso(silence.until)}
        return stored_reason(PollProblem.CLIENT_PAUSED, error=silence.error, **times)

    def fell_silent(self, whom: Whom) -> bool:
        return whom in self.silent

    def note(self, whom: Whom, error: str | None, now: datetime) -> None:
        """Records the outcome of a call (None: success)."""
        self.asked_at[whom[0]] = now
        if error is None:
            self.silent.pop(whom, None)
            return
        before = self.silent.get(whom)
        self.silent[whom] = Silence(before.times + 1 if before else 1, now, error)

    def forget_old(self, now: datetime) -> None:
        """Forgets clients that left while they were silent."""
        self.silent = {whom: silence for whom, silence in self.silent.items() if now - silence.at < KEPT}
        self.asked_at = {group: at for group, at in self.asked_at.items() if now - at < KEPT}


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
    connections = await asyncio.gather(*(SweptBroker(broker, turn, until).connections(groups) for broker in brokers))
    read = []
    for place, group in enumerate(groups):
        answers = [(broker, by_group[place]) for broker, by_group in zip(brokers, connections, strict=True)]
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
    answered = [(broker, answer) for broker, answer in answers if not isinstance(answer, RocketMQError)]
    client_answers = next((answer for _, answer in answered if answer.online), None)
    by_topic = {one.topic: one for _, answer in answered for one in answer.subscriptions}
    return GroupMembers(
        group=group,
        members=tuple(_members(answered)),
        consume_type=client_answers.consume_type if client_answers else None,
        message_model=client_answers.message_model if client_answers else None,
        consume_from_where=client_answers.consume_from_where if client_answers else None,
        subscriptions=tuple(
            {"topic": topic, "expression": one.expression, "expression_type": one.expression_type}
            for topic, one in sorted(by_topic.items())
        ),
        error=errors[0] if errors else None if answers else stored_reason(PollProblem.NO_BROKER_ASKED),
        sub_version=newest_change(group, [one for _, answer in answered for one in answer.subscriptions], topics),
        answered_by=tuple(broker.name for broker, _ in answered),
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


def _members(answered: Sequence[tuple[AskedBroker, GroupConnections]]) -> Iterator[Member]:
    """Members by client id. A broker lists connections in no order (5.4.0, ConsumerConnection): the first by address
    stands for the member, so that each reading chooses the same one.
    """
    connections: dict[str, dict[str, tuple[str, ...]]] = {}
    first: dict[str, tuple[AskedBroker, ClientConnection]] = {}
    for broker, answer in answered:
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
    """By group id; groups without members are left out. Takes a query, and one for popped queues if any member told."""
    return dict(_pop_answers(groups if isinstance(groups, QuerySet) else frozenset(groups)))


@asked_once
def _pop_answers(groups: QuerySet[ConsumerGroup] | frozenset[int]) -> dict[int, PopAnswer]:
    members = Client.objects.filter(group__in=groups, gone_by=None)
    counted = list(members.order_by().values_list("group_id").annotate(Count("pk"), Count("pop_queues")))
    unacked: dict[int, int] = {}
    is_any_answered = any(is_answered for _, _, is_answered in counted)
    popping = members.exclude(pop_queues=None).exclude(pop_queues=[]) if is_any_answered else members.none()
    for group, queues in popping.values_list("group_id", "pop_queues"):
        unacked[group] = unacked.get(group, 0) + sum(queue["wait_ack_count"] for queue in queues or ())
    return {
        group: _answer(all_told=is_answered == present, none_told=not is_answered, unacked=unacked.get(group))
        for group, present, is_answered in counted
    }


def _answer(*, all_told: bool, none_told: bool, unacked: int | None) -> PopAnswer:
    """`unacked` null: no member that reported pops."""
    if none_told:
        return NO_ANSWER
    return PopAnswer(unacked is not None, (unacked or 0) if all_told else None)
