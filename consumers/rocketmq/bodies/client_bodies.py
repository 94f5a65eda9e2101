"""Bodies about a group's clients: their list (203), their running info (307), their assignment (400); and what clients
do unless somebody set them otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from consumers.rocketmq.bodies.fastjson import loads, loads_plain
from consumers.rocketmq.wire.codes import RequestCode

from .fields import Fields


# What is known of a group's clients: from the broker (203) and from a client itself (307). None is: not said.
@dataclass(frozen=True)
class ClientConnection:
    client_id: str
    address: str
    language: str
    version: int


@dataclass(frozen=True)
class Subscription:
    """`sub_version` is the client's clock in ms at the last change of its queues or subscription."""

    topic: str
    expression: str
    expression_type: str | None
    tags: tuple[str, ...]
    sub_version: int | None


@dataclass(frozen=True)
class GroupConnections:
    """`online` False: the broker answered that it knows no member. Subscriptions are those that registered last."""

    online: bool
    clients: list[ClientConnection] = field(default_factory=list)
    consume_type: str | None = None
    message_model: str | None = None
    consume_from_where: str | None = None
    subscriptions: list[Subscription] = field(default_factory=list)


@dataclass(frozen=True)
class ProcessQueue:
    """A queue that the client owns. Times are the client's clock in ms; last_consume_ms starts at the queue's creation.

    `commit_offset` is None where the client's memory has none, `cached_min` and `cached_max` while nothing is held.
    What an orderly client works on counts as cached.
    `locked` is true for every queue of concurrent clients since 4.9.5: it says something of orderly ones only.
    """

    topic: str
    broker: str
    queue_id: int
    commit_offset: int | None
    cached_min: int | None
    cached_max: int | None
    cached_count: int
    locked: bool | None
    dropped: bool | None
    last_pull_ms: int | None
    last_consume_ms: int | None
    last_lock_ms: int | None
    cached_mib: int | None = None


@dataclass(frozen=True)
class PopQueue:
    """`queue_id` is -1 where the client pops from any queue of the topic."""

    topic: str
    broker: str
    queue_id: int
    wait_ack_count: int
    dropped: bool | None
    last_pop_ms: int | None


@dataclass(frozen=True)
class AssignedQueue:
    """A queue that a broker gives a client. `mode` is PULL or POP; `queue_id` is -1 where it pops from any queue."""

    topic: str
    broker: str
    queue_id: int
    mode: str


@dataclass(frozen=True)
class ConsumeStatus:
    """Averages of the client's last minute, `rt` in milliseconds; failed_messages are those of the last hour."""

    pull_rt: float | None
    pull_tps: float | None
    consume_rt: float | None
    consume_ok_tps: float | None
    consume_failed_tps: float | None
    consume_failed_messages: int | None


@dataclass(frozen=True)
class RunningInfo:
    properties: Mapping[str, str]
    queues: list[ProcessQueue]
    pop_queues: list[PopQueue]
    subscriptions: list[Subscription]
    status: Mapping[str, ConsumeStatus]
    jstack: str | None


# Bodies that tell of a group's clients: their list (203), what one says of itself (307), what it is given (400).
def group_connections(body: bytes) -> GroupConnections:
    answer = Fields(loads_plain(body), RequestCode.GET_CONSUMER_CONNECTION_LIST)
    clients = [
        ClientConnection(
            client_id=connection.text("clientId"),
            address=connection.text("clientAddr"),
            language=connection.text("language"),
            version=connection.small("version"),
        )
        for connection in answer.items("connectionSet")
    ]
    return GroupConnections(
        online=True,
        clients=clients,
        consume_type=answer.optional_text("consumeType"),
        message_model=answer.optional_text("messageModel"),
        consume_from_where=answer.optional_text("consumeFromWhere"),
        subscriptions=[_subscription(fields) for _, fields in answer.entries("subscriptionTable")],
    )


def running_info(body: bytes) -> RunningInfo:
    answer = Fields(loads(body), RequestCode.GET_CONSUMER_RUNNING_INFO)
    # Clients before 5.0 do not know POP and leave its table out.
    pops = [] if answer.optional_inner("mqPopTable") is None else answer.queues("mqPopTable")
    return RunningInfo(
        properties=answer.text_map("properties"),
        queues=[_process_queue(queue, value) for queue, value in answer.queues("mqTable")],
        pop_queues=[_pop_queue(queue, value) for queue, value in pops],
        subscriptions=[_subscription(fields) for fields in answer.items("subscriptionSet")],
        status={answer.as_text(topic): _consume_status(fields) for topic, fields in answer.entries("statusTable")},
        jstack=answer.optional_text("jstack"),
    )


def assigned_queues(body: bytes) -> list[AssignedQueue] | None:
    """None where the broker has no answer: it does not know the topic or the strategy, or has no member of the group
    (5.4.0, QueryAssignmentProcessor: null assignments, which fastjson leaves out). Empty also for a client that it does
    not list."""
    answer = Fields(loads_plain(body), RequestCode.QUERY_ASSIGNMENT)
    if not answer.has("messageQueueAssignments"):
        return None
    return [
        AssignedQueue(queue.text("topic"), queue.text("brokerName"), queue.small("queueId"), entry.text("mode"))
        for entry in answer.items("messageQueueAssignments")
        for queue in [entry.inner("messageQueue")]
    ]


def _subscription(fields: Fields) -> Subscription:
    return Subscription(
        topic=fields.text("topic"),
        expression=fields.text("subString"),
        expression_type=fields.optional_text("expressionType"),
        tags=tuple(sorted(fields.texts("tagsSet"))),
        sub_version=fields.optional_moment("subVersion"),
    )


def _process_queue(queue: Fields, value: Fields) -> ProcessQueue:
    commit_offset = value.integer("commitOffset")
    count, least, greatest = _held(value)
    return ProcessQueue(
        topic=queue.text("topic"),
        broker=queue.text("brokerName"),
        queue_id=queue.small("queueId"),
        # -1 or -2 where the client has none (5.4.0, RemoteBrokerOffsetStore.readOffset).
        commit_offset=commit_offset if commit_offset >= 0 else None,
        cached_min=least,
        cached_max=greatest,
        cached_count=count,
        # Rounded down, as the client compares it with its own threshold (5.4.0, ProcessQueue.fillProcessQueueInfo).
        cached_mib=value.optional_integer("cachedMsgSizeInMiB"),
        locked=value.optional_flag("locked"),
        dropped=value.optional_flag("droped"),
        last_pull_ms=value.optional_moment("lastPullTimestamp"),
        last_consume_ms=value.optional_moment("lastConsumeTimestamp"),
        last_lock_ms=value.optional_moment("lastLockTimestamp"),
    )


def _held(value: Fields) -> tuple[int, int | None, int | None]:
    """How many messages the client holds, their least and their greatest offset.

    An orderly client takes those that it works on out of its cache and names them apart (5.4.0,
    ProcessQueue.takeMessages): they are held all the same, and consumed again when it dies.
    """
    counts = {"cachedMsg": value.integer("cachedMsgCount")}
    counts["transactionMsg"] = value.optional_integer("transactionMsgCount") or 0
    # Of a count of 0 both ends are 0, which is no offset (5.4.0, ProcessQueue.fillProcessQueueInfo).
    held = [what for what, count in counts.items() if count]
    if not held:
        return 0, None, None
    least = min(value.integer(f"{what}MinOffset") for what in held)
    return sum(counts.values()), least, max(value.integer(f"{what}MaxOffset") for what in held)


def _pop_queue(queue: Fields, value: Fields) -> PopQueue:
    return PopQueue(
        topic=queue.text("topic"),
        broker=queue.text("brokerName"),
        queue_id=queue.small("queueId"),
        wait_ack_count=value.integer("waitAckCount"),
        dropped=value.optional_flag("droped"),
        last_pop_ms=value.optional_moment("lastPopTimestamp"),
    )


def _consume_status(fields: Fields) -> ConsumeStatus:
    return ConsumeStatus(
        pull_rt=fields.optional_real("pullRT"),
        pull_tps=fields.optional_real("pullTPS"),
        consume_rt=fields.optional_real("consumeRT"),
        consume_ok_tps=fields.optional_real("consumeOKTPS"),
        consume_failed_tps=fields.optional_real("consumeFailedTPS"),
        consume_failed_messages=fields.optional_integer("consumeFailedMsgs"),
    )


# Threads of a push consumer at most (DefaultMQPushConsumer.consumeThreadMax: 64 in 4.9, 20 in 5.4.0). Where it holds
# more unfinished messages, some wait for a thread, and those were pulled last: nothing behind the last is finished.
MOST_THREADS = 64

# A client pulls on while it holds at most so many messages of a queue, and while these span at most so many offsets (an
# orderly one: whatever they span); one more answer may come then (RocketMQ 5.4.0,
# DefaultMQPushConsumerImpl.pullMessage).
FLOW_CONTROL = ("pullThresholdForQueue", "consumeConcurrentlyMaxSpan")
PULL_BATCH = "pullBatchSize"


def may_hold(settings: Mapping[str, str] | None) -> int | None:
    """How many messages of a queue a client with these settings may hold and have finished behind the first that it
    holds; null where it has not reported them, as clients that pull for themselves do not."""
    numbers = [(settings or {}).get(name, "") for name in (*FLOW_CONTROL, PULL_BATCH)]
    if not all(number.isdecimal() for number in numbers):
        return None
    *limits, batch = map(int, numbers)
    return max(limits) + batch


# Of a push consumer (RocketMQ 5.4.0, DefaultMQPushConsumer and ClientConfig).
DEFAULTS = {
    "PROP_THREADPOOL_CORE_SIZE": "20",
    "adjustThreadPoolNumsThreshold": "100000",
    "clientRebalance": "true",
    "consumeConcurrentlyMaxSpan": "2000",
    "consumeFromWhere": "CONSUME_FROM_LAST_OFFSET",
    "consumeMessageBatchMaxSize": "1",
    "consumeThreadMax": "20",
    "consumeThreadMin": "20",
    "consumeTimeout": "15",
    "heartbeatBrokerInterval": "30000",
    "maxReconsumeTimes": "-1",
    "messageModel": "CLUSTERING",
    "persistConsumerOffsetInterval": "5000",
    "popBatchNums": "32",
    "popInvisibleTime": "60000",
    "popThresholdForQueue": "96",
    "pullBatchSize": "32",
    "pullInterval": "0",
    "pullThresholdForQueue": "1000",
    "pullThresholdForTopic": "-1",
    "pullThresholdSizeForQueue": "100",
    "pullThresholdSizeForTopic": "-1",
    "suspendCurrentQueueTimeMillis": "1000",
    "vipChannelEnabled": "false",
}
# What their numbers count in, where no name says it (RocketMQ 5.4.0, as above).
IN_MINUTES = frozenset({"consumeTimeout"})
IN_MILLISECONDS = frozenset(
    {
        "heartbeatBrokerInterval",
        "persistConsumerOffsetInterval",
        "popInvisibleTime",
        "pullInterval",
        "suspendCurrentQueueTimeMillis",
    }
)
IN_MIB = frozenset({"pullThresholdSizeForQueue", "pullThresholdSizeForTopic"})
