"""The round over a reading's clients, bounded in calls and time, and which of their settings are kept."""

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace

from consumers.polling.brokers.joined import kind_in_group
from consumers.polling.members.membership import newest_change
from consumers.polling.members.turn import AT_ONCE, Silences, Turn
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
from consumers.rocketmq.wire.errors import DeadlineExceeded, RocketMQError, Unreachable
from consumers.rocketmq.wire.values import time_of

# What of a client's own settings is kept: a list of names, since the rest of its properties may hold secrets
# (proxies,
# hooks, whatever its classes print of themselves).
# Fields of DefaultMQPushConsumer, DefaultLitePullConsumer and ClientConfig (RocketMQ 5.4.0, MixAll.object2Properties).
KEPT = (
    "PROP_CLIENT_VERSION",
    "PROP_CONSUME_TYPE",
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
    """By name; the class of the offset store in the place of what it prints."""
    kept = {name: properties[name][:LONGEST_SETTING] for name in KEPT if name in properties}
    store = offset_store(properties)
    return kept if store is None else kept | {OFFSET_STORE: store}


def offset_store(properties: Mapping[str, str]) -> str | None:
    """The class of the store that keeps the client's progress; None where it has none yet, or did not say so."""
    printed = properties.get(OFFSET_STORE)
    if printed is None:
        return None
    return printed_class(printed) or UNNAMED_CLASS


def printed_class(printed: str) -> str | None:
    """Java prints an object as class@hash, unless its class prints something else, which may be anything: None."""
    match = _PRINTED_OBJECT.fullmatch(printed)
    return match[1] if match else None


def outside_store(settings: Mapping[str, str] | None) -> str | None:
    """The class of a store that is not RocketMQ's own: neither brokers nor RocketMQ's files know its progress."""
    store = (settings or {}).get(OFFSET_STORE)
    return None if store in OWN_STORES else store


# The round over the clients of a reading: bounded in calls by its plan, and in time by the budget.
#
# A client that hangs holds its call for seconds, and one of the broker's threads for 10 s (RocketMQ 5.4.0,
# Broker2Client), the same threads that grant locks to orderly clients: after a few of them the broker is asked no
# more.
# What is not reached in time is not asked; that is no error of a client.
#
# A client is asked one question at a time, whichever of its groups it is about. To tell of a queue of which it has no
# offset it asks a broker, and waits for the answer in one of the threads that take answers in: as many as it has
# processors. Questions in each of them leave none, and the client closes its connections (5.4.0,
# DefaultMQPushConsumerImpl.consumerRunningInfo, NettyRemotingAbstract.invokeSyncImpl, NettyClientConfig).
# What a client says of itself, in our words: the queues it holds and how far each is.


def client_reading(
    group: str, client_id: str, info: RunningInfo, topics: Collection[str] | None = None
) -> ClientReading:
    """`topics`: those that brokers have; null where nobody knows."""
    properties = info.properties
    return ClientReading(
        group=group,
        client_id=client_id,
        queues=tuple(_owned(queue) for queue in info.queues),
        strategy=strategy_class(properties.get("allocateMessageQueueStrategy")),
        orderly=_truth(properties.get("PROP_CONSUMEORDERLY")),
        started_at=time_of(_whole(properties.get("PROP_CONSUMER_START_TIMESTAMP"))),
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
    """Of all its queues of the topic together, over its last minute; failed messages are those of its last hour
    (RocketMQ 5.4.0, ConsumerStatsManager.consumeStatus)."""
    return {
        "consume_ok_tps": status.consume_ok_tps,
        "consume_failed_tps": status.consume_failed_tps,
        "consume_failed_messages": status.consume_failed_messages,
        "consume_rt": status.consume_rt,
    }


def _lines(group: str, subscriptions: Sequence[Subscription]) -> str:
    """Members that subscribe alike say the same text: no type is TAG (RocketMQ 5.4.0, ExpressionType.isTagType)."""
    counted = [one for one in subscriptions if kind_in_group(group, one.topic) != "retry"]
    return "\n".join(sorted(f"{one.topic} {one.expression_type or 'TAG'} {one.expression}" for one in counted))


def _popped(queue: PopQueue) -> dict[str, str | int | None]:
    """As it is stored: the time as text."""
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
        locked=queue.locked,
        dropped=queue.dropped,
        last_pull_at=time_of(queue.last_pull_ms),
        last_consume_at=time_of(queue.last_consume_ms),
        last_lock_at=time_of(queue.last_lock_ms),
    )


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdigit() else None


def _truth(text: str | None) -> bool | None:
    return {"true": True, "false": False}.get(text) if text is not None else None


# The class by which a client shares queues, from what it prints of itself: `org.apache.….AllocateX@73830414`.
# RocketMQ's own classes by their simple name, any other with its package: one may bear the name of RocketMQ's.

OWN = "org.apache.rocketmq.client.consumer.rebalance."

LONGEST = 100


def strategy_class(printed: str | None) -> str | None:
    """None where the client says nothing; the end of a name that is too long to keep."""
    if not printed:
        return None
    name = printed_class(printed)
    return UNNAMED_CLASS if name is None else name.removeprefix(OWN)[-LONGEST:]


# What brokers give to clients that leave the sharing out of queues to them.
# Those are concurrent, clustering clients with clientRebalance off (RocketMQ 5.4.0,
# RebalancePushImpl.clientRebalance). The broker shares out among the clients that it lists itself.

# Those that a broker knows, by their class at the client (5.4.0, QueryAssignmentProcessor).
STRATEGIES = {"AllocateMessageQueueAveragely": "AVG", "AllocateMessageQueueAveragelyByCircle": "AVG_BY_CIRCLE"}

CLUSTERING = "CLUSTERING"


def topics_asked_for(reading: ClientReading) -> list[str]:
    """The topics of which a broker shares out the queues; none where the client does so itself, or did not speak.

    Such a client subscribes to its own retry topics for popping too, of which most do not exist: they are left out.
    """
    settings = reading.settings or {}
    leaves_it = settings.get("clientRebalance") == "false" and settings.get("messageModel") == CLUSTERING
    if not leaves_it or reading.orderly is not False or reading.strategy not in STRATEGIES:
        return []
    topics = [str(one["topic"]) for one in reading.subscriptions or ()]
    return sorted(topic for topic in topics if kind_in_group(reading.group, topic) != "retry")


async def with_assigned(admin: BrokerAdmin, reading: ClientReading, deadline_seconds: float) -> ClientReading:
    """The reading with what the broker gives its client over all topics. A part of them is no assignment: where one
    is missing there is the reason in its place."""
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

# So many given up calls, and those at work beside them, leave some of a broker's 16 threads for admin calls.
HUNG = 4


class ClientRound:
    """`asked`: how many clients were."""

    def __init__(self, turn: Turn, silences: Silences, topics: Collection[str] | None) -> None:
        self.asked = 0
        self._turn, self._silences, self._topics = turn, silences, topics
        self._clock = asyncio.get_running_loop().time
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
        """The same readings; what a broker gives the client in those of clients that leave the sharing out to it."""
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
