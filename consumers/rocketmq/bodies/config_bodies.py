"""Bodies about the configuration of brokers, topics and groups; None means that the broker did not say."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from consumers.rocketmq.bodies.fastjson import loads, loads_plain
from consumers.rocketmq.wire.codes import RemoteProtocolError, RequestCode

from .fields import Fields


# What a broker says of its topics, groups and queues. None is: the broker did not say.
@dataclass(frozen=True)
class DataVersion:
    """Changes with every change of a broker's table: `counter` by one, by the broker's clock in milliseconds."""

    counter: int
    timestamp: int
    state_version: int | None


@dataclass(frozen=True)
class TopicConfig:
    """`perm` is a sum of 4 (read), 2 (write) and 1 (inherit)."""

    name: str
    read_queues: int
    write_queues: int
    perm: int
    order: bool | None
    attributes: Mapping[str, str] | None


@dataclass(frozen=True)
class TopicConfigs:
    data_version: DataVersion
    topics: list[TopicConfig]


@dataclass(frozen=True)
class RetryPolicy:
    """Heeded for POP and gRPC clients only (5.4.0, DefaultReceiptHandleManager). `kind`: CUSTOMIZED or EXPONENTIAL."""

    kind: str
    delays_ms: tuple[int, ...] | None
    initial_ms: int | None
    max_ms: int | None
    multiplier: int | None


@dataclass(frozen=True)
class GroupConfig:
    name: str
    consume_enable: bool
    broadcast_enable: bool | None
    retry_max_times: int | None
    retry_queue_nums: int | None
    orderly: bool | None
    retry_policy: RetryPolicy | None
    consume_timeout_minutes: int | None
    notify_members: bool | None
    attributes: Mapping[str, str] | None


@dataclass(frozen=True)
class GroupConfigs:
    data_version: DataVersion
    groups: list[GroupConfig]


@dataclass(frozen=True)
class TopicQueueStats:
    """`last_update_at_ms`: store time of the newest message, None if the queue is empty or it has expired."""

    broker: str
    queue_id: int
    min_offset: int
    max_offset: int
    last_update_at_ms: int | None


# Bodies that tell how a broker and its topics and groups are set up.
def topic_configs(body: bytes) -> TopicConfigs:
    answer = Fields(loads_plain(body), RequestCode.GET_ALL_TOPIC_CONFIG)
    topics = [_topic_config(fields) for _, fields in answer.entries("topicConfigTable")]
    return TopicConfigs(_data_version(answer), topics)


def group_configs(body: bytes) -> GroupConfigs:
    answer = Fields(loads_plain(body), RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
    groups = [_group_config(fields) for _, fields in answer.entries("subscriptionGroupTable")]
    return GroupConfigs(_data_version(answer), groups)


def broker_config(body: bytes) -> dict[str, str]:
    """Lines of `key=value`, written without escapes (5.4.0, MixAll.properties2String)."""
    try:
        lines = body.decode().split("\n")
    except UnicodeDecodeError as error:
        raise Fields({}, RequestCode.GET_BROKER_CONFIG).wrong("", "is not UTF-8") from error
    if b"\0" in body:
        raise Fields({}, RequestCode.GET_BROKER_CONFIG).wrong("", "has a NUL, which no text has")
    pairs = [line.partition("=") for line in lines if line.strip()]
    if any(not equals for _, equals, _ in pairs):
        raise Fields({}, RequestCode.GET_BROKER_CONFIG).wrong("", "has a line that is not key=value")
    return {name: value for name, _, value in pairs}


def dispatch_behind_bytes(body: bytes) -> int | None:
    """How many bytes of the commit log are not in consume queues yet; None where the broker does not say.

    Below zero where a broker dispatches what is not confirmed (5.x, readUnCommitted): then nothing is hidden, and it is
    0.
    """
    table = Fields(loads_plain(body), RequestCode.GET_BROKER_RUNTIME_INFO).inner("table")
    behind = table.optional_number_text("dispatchBehindBytes")
    return None if behind is None else max(0, behind)


def delay_offsets(body: bytes) -> dict[int, int]:
    return Fields(loads(body), RequestCode.GET_ALL_DELAY_OFFSET).numbered_integers("offsetTable")


def timer_counts(body: bytes) -> dict[str, int]:
    """As the broker counts them, one below zero too: it counts up and down, and now and then counts anew."""
    answer = Fields(loads(body), RequestCode.GET_TIMER_METRICS)
    return {answer.as_text(topic): count.integer("count") for topic, count in answer.entries("timingCount")}


@dataclass(frozen=True)
class MinuteStatistic:
    """What a broker counted in its last minute, renewed every 10 s (RocketMQ 5.4.0, StatsItem)."""

    total: int
    per_second: float


def minute_statistic(body: bytes) -> MinuteStatistic:
    minute = Fields(loads_plain(body), RequestCode.VIEW_BROKER_STATS_DATA).inner("statsMinute")
    per_second = minute.optional_real("tps")
    if per_second is None:
        raise minute.wrong("tps", "is missing")
    return MinuteStatistic(minute.integer("sum"), per_second)


def message_request_modes(body: bytes) -> dict[str, dict[str, str]]:
    """5.4.0, MessageRequestModeSerializeWrapper."""
    answer = Fields(loads_plain(body), RequestCode.GET_ALL_MESSAGE_REQUEST_MODE)
    return {
        answer.as_text(topic): {groups.as_text(group): groups.inner(group).text("mode") for group in groups.names()}
        for topic, groups in answer.entries("messageRequestModeMap")
    }


def offset_of_header(ext_fields: Mapping[str, str], request_code: int) -> int:
    """What 14, 29, 30 and 31 answer in the header's extFields."""
    return Fields(dict(ext_fields), request_code, ("extFields",)).number_text("offset")


def _data_version(answer: Fields) -> DataVersion:
    version = answer.inner("dataVersion")
    return DataVersion(
        counter=version.integer("counter"),
        timestamp=version.integer("timestamp"),
        state_version=version.optional_integer("stateVersion"),
    )


def _topic_config(fields: Fields) -> TopicConfig:
    return TopicConfig(
        name=fields.text("topicName"),
        read_queues=fields.small("readQueueNums"),
        write_queues=fields.small("writeQueueNums"),
        perm=fields.small("perm"),
        order=fields.optional_flag("order"),
        attributes=fields.optional_text_map("attributes"),
    )


def _group_config(fields: Fields) -> GroupConfig:
    policy = fields.optional_inner("groupRetryPolicy")
    return GroupConfig(
        name=fields.text("groupName"),
        consume_enable=fields.flag("consumeEnable"),
        broadcast_enable=fields.optional_flag("consumeBroadcastEnable"),
        retry_max_times=fields.optional_integer("retryMaxTimes"),
        retry_queue_nums=fields.optional_integer("retryQueueNums"),
        orderly=fields.optional_flag("consumeMessageOrderly"),
        retry_policy=None if policy is None else _retry_policy(policy),
        consume_timeout_minutes=fields.optional_integer("consumeTimeoutMinute"),
        notify_members=fields.optional_flag("notifyConsumerIdsChangedEnable"),
        attributes=fields.optional_text_map("attributes"),
    )


def _retry_policy(policy: Fields) -> RetryPolicy:
    customized = policy.optional_inner("customizedRetryPolicy")
    exponential = policy.optional_inner("exponentialRetryPolicy")
    return RetryPolicy(
        kind=policy.text("type"),
        delays_ms=None if customized is None else tuple(customized.integers("next")),
        initial_ms=None if exponential is None else exponential.optional_integer("initial"),
        max_ms=None if exponential is None else exponential.optional_integer("max"),
        multiplier=None if exponential is None else exponential.optional_integer("multiplier"),
    )


# `messageDelayLevel` of a broker: how long a message waits on each delay level.
#
# What a broker makes of a list that it cannot read depends on where it stops reading (RocketMQ 5.4.0,
# ScheduleMessageService.parseDelayLevel): such a list tells nothing here.
SCHEDULE_TOPIC = "SCHEDULE_TOPIC_XXXX"

# The first retry of a message waits at this level (5.4.0, AbstractSendMessageProcessor: 3 + reconsumeTimes).
FIRST_RETRY_LEVEL = 3

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

_DELAY = re.compile(r"([0-9]{1,9})([smhd])")

_LONGEST_SHOWN = 80


def level_delays(text: str) -> tuple[int, ...]:
    """Seconds of levels 1, 2, …. Raises RemoteProtocolError for what is not delays like 10s, one space between two."""
    parts = [_DELAY.fullmatch(part) for part in text.split(" ")]
    if any(part is None for part in parts):
        raise RemoteProtocolError(f"messageDelayLevel is {text[:_LONGEST_SHOWN]!r}: not delays as 1s 5m 2h 1d")
    return tuple(int(part[1]) * _SECONDS[part[2]] for part in parts if part is not None)


def queue_of_level(level: int) -> int:
    """The queue of SCHEDULE_TOPIC_XXXX that holds a level's messages."""
    return level - 1


def level_of_queue(queue_id: int) -> int:
    return queue_id + 1


# Group retry policies are heeded where a proxy gives messages back for POP and gRPC clients (RocketMQ 5.4.0,
# DefaultReceiptHandleManager); other clients' retries wait on delay levels.

# 5.4.0, CustomizedRetryPolicy and ExponentialRetryPolicy: what they are without values of their own.
CUSTOMIZED_MS = tuple(
    1000 * seconds
    for seconds in (1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200)
)

INITIAL_MS, MAX_MS, MULTIPLIER = 5_000, 7_200_000, 2

CUSTOMIZED_SHIFT = 2

MOST_POWERS = 32

JAVA_LONG_MAX = (1 << 63) - 1


def retry_delay_ms(policy: RetryPolicy, reconsume_times: int) -> int | None:
    """The wait of a message that was tried `reconsume_times` times again so far: 0 before its first retry.

    None where the policy gives no delay: a list without one, or numbers beyond what Java's long holds.
    """
    times = max(reconsume_times, 0)
    has_numbers = any(value is not None for value in (policy.initial_ms, policy.max_ms, policy.multiplier))
    # An exponential policy without its numbers is the customized one (5.4.0, GroupRetryPolicy.getRetryPolicy).
    if policy.kind == "EXPONENTIAL" and has_numbers:
        return _exponential(policy, min(times, MOST_POWERS))
    delays = policy.delays_ms if policy.kind == "CUSTOMIZED" and policy.delays_ms is not None else CUSTOMIZED_MS
    return delays[min(times + CUSTOMIZED_SHIFT, len(delays) - 1)] if delays else None


def _exponential(policy: RetryPolicy, power: int) -> int | None:
    initial = INITIAL_MS if policy.initial_ms is None else policy.initial_ms
    multiplier = MULTIPLIER if policy.multiplier is None else policy.multiplier
    delay = initial * multiplier**power
    if abs(delay) > JAVA_LONG_MAX:
        return None
    return min(MAX_MS if policy.max_ms is None else policy.max_ms, delay)
