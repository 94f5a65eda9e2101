"""Facts that a master reports about itself: whether it moves offsets itself, and whether it may be written to."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from consumers.jobs.hold import Ports, reading
from consumers.models import Client, ConsumerGroup
from consumers.resets.target_values import QueueKey
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.client_bodies import GroupConnections
from consumers.rocketmq.wire.codes import (
    BrokerRefused,
    DeadlineExceeded,
    ResponseCode,
    RocketMQError,
    Unreachable,
    mq_version_name,
)
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import PlanReason

from .queue_plan import BrokerSetup, GroupSetup, QueueOffsets

# A cluster's masters as a plan asks them: few calls at once, and no more calls to a silent one.

CALLS_AT_ONCE = 8

Answer = TypeVar("Answer")


class Master:
    def __init__(self, name: str, admin: BrokerAdmin, deadline_seconds: float) -> None:
        self.name = name
        self._admin, self._seconds = admin, deadline_seconds
        self._turns = asyncio.Semaphore(CALLS_AT_ONCE)
        self._silence: RocketMQError | None = None

    async def ask(self, call: Callable[[BrokerAdmin, float], Awaitable[Answer]]) -> Answer:
        """`call` gets the deadline in seconds. Once the broker was silent, every later call fails with the same error.

        Raises RocketMQError.
        """
        async with self._turns:
            if self._silence is not None:
                raise self._silence
            try:
                return await reading(lambda: call(self._admin, self._seconds))
            except (Unreachable, DeadlineExceeded) as silence:
                self._silence = silence
                raise

    @property
    def address(self) -> str:
        return self._admin.address

    @property
    def version(self) -> int | None:
        """The version ordinal in its latest answer; null before the first."""
        return self._admin.broker_version


class Masters:
    """By broker name; masters that no reading has seen are missing. They belong to the event loop of `ports.wire`."""

    def __init__(self, ports: Ports) -> None:
        self._masters = {
            name: Master(name, ports.known(name), ports.deadline_seconds) for name in sorted(ports.addresses)
        }

    def __iter__(self) -> Iterator[Master]:
        return iter(self._masters.values())

    def get(self, broker: str) -> Master | None:
        return self._masters.get(broker)


NO_MASTER = stored_reason(PlanReason.NO_MASTER)
# Brokers from 5.1 on name it; those before it leave the work to the members (5.4.0, BrokerConfig).
SERVER_SIDE = "useServerSideResetOffset"
PERMISSION = "brokerPermission"


async def broker_facts(masters: Masters, name: str) -> BrokerSetup:
    master = masters.get(name)
    if master is None:
        return BrokerSetup(name, None, None, None, NO_MASTER)
    try:
        config = await master.ask(lambda admin, seconds: admin.config(deadline_seconds=seconds))
    except RocketMQError as error:
        return BrokerSetup(name, _version(master), None, None, str(error))
    return replace(broker_setup(name, _version(master), config), address=master.address)


def broker_setup(name: str, version: str | None, config: Mapping[str, str]) -> BrokerSetup:
    server_side, permission = config.get(SERVER_SIDE, "false"), config.get(PERMISSION, "")
    if server_side not in ("true", "false"):
        why = stored_reason(PlanReason.SETTING_NOT_BOOLEAN, setting=SERVER_SIDE, value=server_side)
        return BrokerSetup(name, version, None, None, why)
    if not permission.isdecimal():
        code = PlanReason.SETTING_NOT_NUMBER if permission else PlanReason.SETTING_MISSING
        return BrokerSetup(name, version, None, None, stored_reason(code, setting=PERMISSION, value=permission))
    return BrokerSetup(name, version, server_side == "true", int(permission))


def _version(master: Master) -> str | None:
    return None if master.version is None else mq_version_name(master.version)


# The members of a group: every master and proxy is asked, because a member registers with the brokers of its topics.

NO_MASTERS = stored_reason(PlanReason.NO_MASTERS)


@dataclass(frozen=True)
class Membership:
    """`members` null, with an `error`, unless every broker and proxy answered."""

    members: tuple[str, ...] | None
    error: str | None
    message_model: str | None = None
    consume_type: str | None = None
    languages: tuple[str, ...] = ()


async def membership(ports: Ports, masters: Masters, group: str) -> Membership:
    asked = [
        _answer_of(master.name, master.ask(lambda admin, within: admin.connections(group, deadline_seconds=within)))
        for master in masters
    ]
    asked += [_answer_of(address, _proxy(ports, address, group)) for address in ports.proxies]
    return united(dict(await asyncio.gather(*asked)))


def united(answers: Mapping[str, GroupConnections | RocketMQError]) -> Membership:
    """By broker or proxy. Where members disagree, the value that prevents a reset counts: ACTIVELY, BROADCASTING."""
    if not answers:
        return Membership(None, NO_MASTERS)
    answered = [answer for answer in answers.values() if not isinstance(answer, RocketMQError)]
    errors = [f"{name}: {answer}" for name, answer in answers.items() if isinstance(answer, RocketMQError)]
    clients = [client for answer in answered for client in answer.clients]
    return Membership(
        members=None if errors else tuple(sorted({client.client_id for client in clients})),
        error="; ".join(errors) or None,
        message_model=min((answer.message_model for answer in answered if answer.message_model), default=None),
        consume_type=min((answer.consume_type for answer in answered if answer.consume_type), default=None),
        languages=tuple(sorted({client.language for client in clients})),
    )


async def _answer_of(name: str, answer: Awaitable[GroupConnections]) -> tuple[str, GroupConnections | RocketMQError]:
    try:
        return name, await answer
    except RocketMQError as error:
        return name, error


async def _proxy(ports: Ports, address: str, group: str) -> GroupConnections:
    proxy = BrokerAdmin(ports.wire.pool, address)
    return await reading(lambda: proxy.connections(group, deadline_seconds=ports.deadline_seconds))


# Facts about a group that only rows have: they are read before its masters are asked.


@dataclass(frozen=True)
class Known:
    """`orderly` null: no present member reported it. `popped`: topics that present members reported to pop."""

    orderly: bool | None
    popped: frozenset[str]


def known_of(group: ConsumerGroup) -> Known:
    clients = Client.objects.filter(group=group, gone_by=None).order_by()
    reported = list(clients.values_list("orderly", "pop_queues"))
    return Known(
        orderly=_orderly([orderly for orderly, _ in reported if orderly is not None]),
        popped=frozenset(queue["topic"] for _, queues in reported for queue in queues or ()),
    )


def _orderly(reported: Sequence[bool]) -> bool | None:
    """One orderly member is enough: queues are locked for it."""
    return any(reported) if reported else None


# The topics that a group pops: brokers store the setting for push consumers, members report their own.

POP = "POP"


async def pop_topics(masters: Masters, brokers: Sequence[str], group: str, known: Known) -> frozenset[str] | None:
    """Null where one of `brokers` refused to answer. A silent broker has no queue that can be moved anyway."""
    there = [master for broker in brokers if (master := masters.get(broker)) is not None]
    answered = await asyncio.gather(*(_of(master, group) for master in there))
    if any(topics is None for topics in answered):
        return None
    return known.popped.union(*(topics for topics in answered if topics is not None))


async def _of(master: Master, group: str) -> frozenset[str] | None:
    try:
        modes = await master.ask(lambda admin, within: admin.message_request_modes(deadline_seconds=within))
    except BrokerRefused as refusal:
        # A broker before 5.0 knows neither the call nor POP.
        return frozenset() if refusal.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED else None
    except RocketMQError:
        return frozenset()
    return frozenset(topic for topic, groups in modes.items() if groups.get(group) == POP)


# A group's offset in one queue, and the queue's range: three calls to its master.


async def queue_facts(masters: Masters, group: str, key: QueueKey) -> QueueOffsets:
    """The consumer offset is read first, so that the queue's end is not older."""
    master, place = masters.get(key.broker), (key.topic, key.queue_id)
    if master is None:
        return QueueOffsets(key, None, None, None, NO_MASTER)
    try:
        now = await master.ask(lambda admin, within: admin.consumer_offset(group, *place, deadline_seconds=within))
        least = await master.ask(lambda admin, within: admin.min_offset(*place, deadline_seconds=within))
        most = await master.ask(lambda admin, within: admin.max_offset(*place, deadline_seconds=within))
    except RocketMQError as error:
        return QueueOffsets(key, None, None, None, str(error))
    if least < 0 or most < least:
        return QueueOffsets(key, None, None, None, stored_reason(PlanReason.ENDS_MAKE_NO_SENSE, least=least, most=most))
    return QueueOffsets(key, least, most, now)


async def gather(
    ports: Ports, group: str, keys: Collection[QueueKey], known: Known, now: datetime, masters: Masters | None = None
) -> GroupSetup:
    """Three calls for each of `keys`, two for each of their brokers, one for each master and proxy. Never raises
    RocketMQError: a value that could not be read has an error instead. `masters`: where they are asked for more.
    """
    asked = masters or Masters(ports)
    names = sorted({key.broker for key in keys})
    who, pops, brokers, queues = await asyncio.gather(
        membership(ports, asked, group),
        pop_topics(asked, names, group, known),
        asyncio.gather(*(broker_facts(asked, name) for name in names)),
        _queues(asked, group, sorted(keys)),
    )
    return GroupSetup(
        taken_at=now,
        members=who.members,
        members_error=who.error,
        message_model=who.message_model,
        consume_type=who.consume_type,
        orderly=known.orderly,
        languages=who.languages,
        pop_topics=pops,
        brokers=_by_name(brokers),
        queues={queue.key: queue for queue in queues},
    )


async def _queues(masters: Masters, group: str, keys: Sequence[QueueKey]) -> list[QueueOffsets]:
    return list(await asyncio.gather(*(queue_facts(masters, group, key) for key in keys)))


def _by_name(brokers: Sequence[BrokerSetup]) -> dict[str, BrokerSetup]:
    return {broker.name: broker for broker in brokers}
