"""The round over a reading's clients, bounded in calls and time, and which of their settings are kept."""

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, replace

from consumers.polling.brokers.joined import kind_in_group
from consumers.polling.memory import is_busy
from consumers.polling.reading import ClientReading, Member, OwnedQueue
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.client_bodies import (
    AssignedQueue,
    ConsumeStatus,
    PopQueue,
    ProcessQueue,
    RunningInfo,
    Subscription,
)
from consumers.rocketmq.bodies.fields import count_of
from consumers.rocketmq.wire.codes import DeadlineExceeded, RocketMQError, Unreachable, time_of

from .membership import AT_ONCE, Silences, Turn, newest_change

# The settings of a client that are stored: an explicit list of names, since other properties may hold secrets (proxies,
# hooks, whatever its classes print of themselves).
# Fields of DefaultMQPushConsumer, DefaultLitePullConsumer and ClientConfig (RocketMQ 5.4.0, MixAll.object2Properties).
KEPT = (
    "PROP_CLIENT_VERSION",
    "PROP_CONSUME_TYPE",
    "PROP_THREADPOOL_CORE_SIZE",
    "adjustThreadPoolNumsThreshold",
    "clientRebalance",
    "consumeConcurrentlyMaxSpan",
    "consumeFromWhere",
    "consumeMessageBatchMaxSize",
    "consumeThreadMax",
    "consumeThreadMin",
    "consumeTimeout",
    "consumeTimestamp",
    "heartbeatBrokerInterval",
    "maxReconsumeTimes",
    "messageModel",
    "persistConsumerOffsetInterval",
    "popBatchNums",
    "popInvisibleTime",
    "popThresholdForQueue",
    "pullBatchSize",
    "pullInterval",
    "pullThresholdForQueue",
    "pullThresholdForTopic",
    "pullThresholdSizeForQueue",
    "pullThresholdSizeForTopic",
    "suspendCurrentQueueTimeMillis",
    "vipChannelEnabled",
)

LONGEST_SETTING = 200

OFFSET_STORE = "offsetStore"

OWN_STORES = frozenset(
    "org.apache.rocketmq.client.consumer.store." + name for name in ("RemoteBrokerOffsetStore", "LocalFileOffsetStore")
)

UNNAMED_CLASS = "a class that does not print its name"

_PRINTED_OBJECT = re.compile(r"([\w.$/]{1,255})@[0-9a-f]+")


def kept_settings(properties: Mapping[str, str]) -> dict[str, str]:
    """Settings by name; for the offset store, the class in place of the printed object."""
    settings = {name: properties[name][:LONGEST_SETTING] for name in KEPT if name in properties}
    store = offset_store(properties)
    return settings if store is None else settings | {OFFSET_STORE: store}


def offset_store(properties: Mapping[str, str]) -> str | None:
    """The class of the store that holds the client's progress; None if the client has none yet or did not report it."""
    printed = properties.get(OFFSET_STORE)
    if printed is None:
        return None
    return printed_class(printed) or UNNAMED_CLASS


def printed_class(printed: str) -> str | None:
    """The class of a printed object. Java prints an object as class@hash, unless its class prints something else, which
    may be anything: None.
    """
    match = _PRINTED_OBJECT.fullmatch(printed)
    return match[1] if match else None


def outside_store(settings: Mapping[str, str] | None) -> str | None:
    """The class of a store that is not RocketMQ's own: neither brokers nor RocketMQ's files know its progress."""
    store = (settings or {}).get(OFFSET_STORE)
    return None if store in OWN_STORES else store


# The round over the clients of a reading: its plan limits the calls, its budget the time.
#
# A hanging client holds its call for seconds, and one of the broker's threads for 10 s (RocketMQ 5.4.0, Broker2Client).
# The same threads grant locks to orderly clients: after a few hanging clients the broker is asked no more. Clients that
# are not reached in time are not asked; this is no error of a client.
#
# A client gets one question at a time, whichever of its groups the question is about. To report a queue without a local
# offset, the client asks a broker, and waits for the answer in one of the threads that receive answers. It has as many
# of these threads as processors. Questions in all of them leave no thread for answers, and the client closes its
# connections (5.4.0, DefaultMQPushConsumerImpl.consumerRunningInfo, NettyRemotingAbstract.invokeSyncImpl,
# NettyClientConfig).


def client_reading(
    group: str, client_id: str, info: RunningInfo, topics: Collection[str] | None = None
) -> ClientReading:
    """A client's report in this product's terms: the queues it holds and its progress on each. `topics`: the topics of
    the brokers; null if unknown.
    """
    properties = info.properties
    return ClientReading(
        group=group,
        client_id=client_id,
        queues=tuple(_owned(queue) for queue in info.queues),
        strategy=strategy_class(properties.get("allocateMessageQueueStrategy")),
        orderly=_truth(properties.get("PROP_CONSUMEORDERLY")),
        started_at=time_of(count_of(properties.get("PROP_CONSUMER_START_TIMESTAMP"))),
        subscriptions=tuple(
            {"topic": s.topic, "expression": s.expression, "expression_type": s.expression_type}
            for s in info.subscriptions
        ),
        settings=kept_settings(properties),
        pop_queues=tuple(_popped(queue) for queue in info.pop_queues if not queue.dropped),
        sub_version=newest_change(group, info.subscriptions, topics),
        subscription=_lines(group, info.subscriptions),
        consume_status={topic: _status(status) for topic, status in sorted(info.status.items())},
    )


def _status(status: ConsumeStatus) -> dict[str, float | int | None]:
    """Over all the client's queues of the topic, in its last minute; failed messages are those of its last hour
    (RocketMQ 5.4.0, ConsumerStatsManager.consumeStatus).
    """
    return {
        "consume_ok_tps": status.consume_ok_tps,
        "consume_failed_tps": status.consume_failed_tps,
        "consume_failed_messages": status.consume_failed_messages,
        "consume_rt": status.consume_rt,
        "pull_rt": status.pull_rt,
        "pull_tps": status.pull_tps,
    }


def _lines(group: str, subscriptions: Sequence[Subscription]) -> str:
    """Members with equal subscriptions get the same text: no type is TAG (RocketMQ 5.4.0, ExpressionType.isTagType)."""
    counted = [one for one in subscriptions if kind_in_group(group, one.topic) != "retry"]
    return "\n".join(sorted(f"{one.topic} {one.expression_type or 'TAG'} {one.expression}" for one in counted))


def _popped(queue: PopQueue) -> dict[str, str | int | None]:
    """The stored form: the time is text."""
    last_pop_at = time_of(queue.last_pop_ms)
    return {
        "topic": queue.topic,
        "broker": queue.broker,
        "queue_id": queue.queue_id,
        "wait_ack_count": queue.wait_ack_count,
        "last_pop_at": last_pop_at.isoformat() if last_pop_at else None,
    }


def _owned(queue: ProcessQueue) -> OwnedQueue:
    return OwnedQueue(
        topic=queue.topic,
        broker=queue.broker,
        queue_id=queue.queue_id,
        commit_offset=queue.commit_offset,
        cached_min=queue.cached_min,
        cached_max=queue.cached_max,
        cached_count=queue.cached_count,
        cached_mib=queue.cached_mib,
        locked=queue.locked,
        dropped=queue.dropped,
        last_pull_at=time_of(queue.last_pull_ms),
        last_consume_at=time_of(queue.last_consume_ms),
        last_lock_at=time_of(queue.last_lock_ms),
    )


def _truth(text: str | None) -> bool | None:
    return {"true": True, "false": False}.get(text) if text is not None else None


# The class with which a client shares out queues, from its printed object: `org.apache.….AllocateX@73830414`.
# RocketMQ's own classes are given by their simple name, any other with its package, since it may have the name of one
# of RocketMQ's.

OWN = "org.apache.rocketmq.client.consumer.rebalance."

LONGEST = 100


def strategy_class(printed: str | None) -> str | None:
    """None if the client does not report the class; the end of a name that is too long to store."""
    if not printed:
        return None
    name = printed_class(printed)
    return UNNAMED_CLASS if name is None else name.removeprefix(OWN)[-LONGEST:]


# The queues that brokers assign to clients that leave queue assignment to them.
# Such clients are concurrent, clustering clients with clientRebalance off (RocketMQ 5.4.0,
# RebalancePushImpl.clientRebalance). The broker shares out queues among the clients that it lists itself.

# The strategies that a broker knows, by their class at the client (5.4.0, QueryAssignmentProcessor).
STRATEGIES = {"AllocateMessageQueueAveragely": "AVG", "AllocateMessageQueueAveragelyByCircle": "AVG_BY_CIRCLE"}

CLUSTERING = "CLUSTERING"


def topics_asked_for(reading: ClientReading) -> list[str]:
    """The topics whose queues a broker shares out; none if the client does so itself, or did not answer.

    Such a client also subscribes to its own retry topics for popping. Most of these topics do not exist: they are left
    out.
    """
    settings = reading.settings or {}
    leaves_it = settings.get("clientRebalance") == "false" and settings.get("messageModel") == CLUSTERING
    if not leaves_it or reading.orderly is not False or reading.strategy not in STRATEGIES:
        return []
    topics = [str(one["topic"]) for one in reading.subscriptions or ()]
    return sorted(topic for topic in topics if kind_in_group(reading.group, topic) != "retry")


async def with_assigned(admin: BrokerAdmin, reading: ClientReading, deadline_seconds: float) -> ClientReading:
    """The reading with the queues that the broker assigns to its client over all topics. Some topics alone are no
    assignment: if one answer is missing, its reason takes the place of the assignment.
    """
    queues: list[AssignedQueue] = []
    strategy = STRATEGIES[reading.strategy or ""]
    for topic in topics_asked_for(reading):
        try:
            given = await admin.query_assignment(
                reading.group, topic, reading.client_id, strategy, CLUSTERING, deadline_seconds=deadline_seconds
            )
        except RocketMQError as error:
            return replace(reading, broker_assigned_error=str(error))
        if given is None:
            return replace(reading, broker_assigned_error=f"{admin.address}: it gives {topic} to nobody")
        queues += given
    return replace(reading, broker_assigned=tuple(asdict(queue) for queue in sorted(queues, key=_place)))


def _place(queue: AssignedQueue) -> tuple[str, str, int]:
    return queue.topic, queue.broker, queue.queue_id


Asked = tuple[str, Member]  # group, member

# Abandoned calls up to this number, together with running calls, leave some of a broker's 16 threads for admin calls.
HUNG = 4


class ClientRound:
    """`asked`: the number of clients that were asked. `clock` gives seconds: that of the event loop by default."""

    def __init__(
        self,
        turn: Turn,
        silences: Silences,
        topics: Collection[str] | None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.asked = 0
        self._turn, self._silences, self._topics = turn, silences, topics
        self._clock = clock or asyncio.get_running_loop().time
        self._until = self._clock() + turn.budget.running_info_seconds
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._clients: dict[str, asyncio.Lock] = {}
        self._hung: dict[str, str] = {}  # by client id, the broker that it was asked through
        self._stopped: set[str] = set()

    async def read(self, asked: Sequence[Asked]) -> list[ClientReading]:
        """One reading per member that was reached, in their order."""
        readings = await asyncio.gather(*(self._read(group, member) for group, member in asked))
        return [reading for reading in readings if reading is not None]

    async def assign(
        self, readings: Sequence[ClientReading], members: Sequence[Asked], calls: int
    ) -> list[ClientReading]:
        """The same readings, with assigned queues added for clients that leave queue assignment to the broker."""
        addresses = {(group, member.client_id): member.broker_address for group, member in members}
        asked: list[ClientReading] = []
        for reading in readings:
            topics = topics_asked_for(reading)
            if topics and len(topics) <= calls:
                calls -= len(topics)
                asked.append(reading)
        given = await asyncio.gather(*(self._assigned(one, addresses[one.group, one.client_id]) for one in asked))
        by_client = {(one.group, one.client_id): one for one in given}
        return [by_client.get((reading.group, reading.client_id), reading) for reading in readings]

    async def _read(self, group: str, member: Member) -> ClientReading | None:
        client = self._clients.setdefault(member.client_id, asyncio.Lock())
        async with client, self._slots(member.broker_address):
            if self._is_over(member.broker_address) or member.client_id in self._hung:
                return None
            self.asked += 1
            return await self._ask(group, member)

    async def _ask(self, group: str, member: Member) -> ClientReading:
        admin, whom = BrokerAdmin(self._turn.pool, member.broker_address), (group, member.client_id)
        try:
            info = await admin.running_info(*whom, deadline_seconds=self._turn.deadline_seconds)
        except RocketMQError as error:
            if is_busy(error) or isinstance(error, Unreachable):
                self._stopped.add(member.broker_address)
            else:
                if isinstance(error, DeadlineExceeded):
                    self._note_hung(member)
                self._silences.note(whom, str(error), self._turn.now)
            return ClientReading(*whom, error=str(error))
        self._silences.note(whom, None, self._turn.now)
        return client_reading(*whom, info, self._topics)

    def _note_hung(self, member: Member) -> None:
        self._hung[member.client_id] = member.broker_address
        if list(self._hung.values()).count(member.broker_address) >= HUNG:
            self._stopped.add(member.broker_address)

    async def _assigned(self, reading: ClientReading, address: str) -> ClientReading:
        async with self._slots(address):
            if self._is_over(address):
                return reading
            admin = BrokerAdmin(self._turn.pool, address)
            return await with_assigned(admin, reading, self._turn.deadline_seconds)

    def _slots(self, address: str) -> asyncio.Semaphore:
        return self._turns.setdefault(address, asyncio.Semaphore(AT_ONCE))

    def _is_over(self, address: str) -> bool:
        return address in self._stopped or self._clock() >= self._until
