"""Bodies that tell how a broker and its topics and groups are set up."""

from collections.abc import Mapping

from consumers.rocketmq.wire.codes import RequestCode

from .broker_values import DataVersion, GroupConfig, GroupConfigs, RetryPolicy, TopicConfig, TopicConfigs
from .fastjson import loads, loads_plain
from .fields import Fields


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


def broker_runtime(body: bytes) -> dict[str, str]:
    return dict(Fields(loads_plain(body), RequestCode.GET_BROKER_RUNTIME_INFO).text_map("table"))


def delay_offsets(body: bytes) -> dict[int, int]:
    return Fields(loads(body), RequestCode.GET_ALL_DELAY_OFFSET).numbered_integers("offsetTable")


def timer_counts(body: bytes) -> dict[str, int]:
    """As the broker counts them, one below zero too: it counts up and down, and now and then counts anew."""
    answer = Fields(loads(body), RequestCode.GET_TIMER_METRICS)
    return {answer.as_text(topic): count.integer("count") for topic, count in answer.entries("timingCount")}


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
