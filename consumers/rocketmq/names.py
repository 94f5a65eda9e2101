"""What RocketMQ's names of groups and topics mean (5.4.0, MixAll, TopicValidator, KeyBuilder)."""

from collections.abc import Container
from typing import Literal

from consumers.rocketmq.wire.codes import Address, parse_address

__all__ = [
    "DLQ_PREFIX",
    "RETRY_PREFIX",
    "Address",
    "TopicKind",
    "dlq_topic",
    "group_of_retry_topic",
    "is_retry_topic_of",
    "is_system_group",
    "is_system_topic",
    "parse_address",
    "retry_topic",
    "topic_kind",
]

TopicKind = Literal["normal", "retry", "dlq", "system"]

RETRY_PREFIX = "%RETRY%"
DLQ_PREFIX = "%DLQ%"

_SYSTEM_GROUPS = frozenset(
    {
        "CID_DefaultHeartBeatSyncerTopic",
        "CID_ONS-HTTP-PROXY",
        "DEFAULT_CONSUMER",
        "FILTERSRV_CONSUMER",
        "SCHEDULE_CONSUMER",
        "SELF_TEST_C_GROUP",
        "TOOLS_CONSUMER",
        "__MONITOR_CONSUMER",
    }
)
_SYSTEM_GROUP_PREFIXES = ("CID_RMQ_SYS_", "CID_ONSAPI_")
_SYSTEM_TOPICS = frozenset(
    {
        "BenchmarkTest",
        "CHECKPOINT_TOPIC",
        "DefaultHeartBeatSyncerTopic",
        "OFFSET_MOVED_EVENT",
        "SCHEDULE_TOPIC_XXXX",
        "SELF_TEST_TOPIC",
        "TBW102",
        "TRANS_CHECK_MAX_TIME_TOPIC",
    }
)
_SYSTEM_TOPIC_PREFIXES = ("rmq_sys_", "RMQ_SYS_", "__syslo__")


def is_system_group(name: str) -> bool:
    return name in _SYSTEM_GROUPS or name.startswith(_SYSTEM_GROUP_PREFIXES)


def is_system_topic(name: str) -> bool:
    """Topics of RocketMQ's own. A broker's and a cluster's pseudo-topic bear their names and are not known here."""
    return name in _SYSTEM_TOPICS or name.startswith(_SYSTEM_TOPIC_PREFIXES)


def topic_kind(topic: str) -> TopicKind:
    """The retry and dead letter topics of system groups are `system`."""
    for prefix, kind in ((RETRY_PREFIX, "retry"), (DLQ_PREFIX, "dlq")):
        if topic.startswith(prefix):
            return "system" if is_system_group(topic.removeprefix(prefix)) else kind  # type: ignore[return-value]
    return "system" if is_system_topic(topic) else "normal"


def retry_topic(group: str) -> str:
    return RETRY_PREFIX + group


def dlq_topic(group: str) -> str:
    return DLQ_PREFIX + group


def is_retry_topic_of(topic: str, group: str, normal_topics: frozenset[str] | set[str]) -> bool:
    """Whether `group` is retried through `topic`.

    POP retries have a topic per group and topic: `%RETRY%group_topic` (v1), `%RETRY%group+topic` (v2, 5.2.0 on).
    As names may hold `_`, a v1 name is split only where the rest is one of `normal_topics`.
    """
    if topic == retry_topic(group):
        return True
    rest = topic.removeprefix(retry_topic(group))
    return rest != topic and (rest[0] == "+" or (rest[0] == "_" and rest[1:] in normal_topics))


def group_of_retry_topic(topic: str, groups: Container[str], normal_topics: Container[str]) -> str | None:
    """The group that is retried through `topic`, where it is one of `groups`; None for any other topic.

    A name that is a group's own and a POP retry's of v1 too is taken for the group's own; one that could be a POP
    retry's of two groups is taken for neither's.
    """
    rest = topic.removeprefix(RETRY_PREFIX)
    if rest == topic:
        return None
    if rest in groups:
        return rest
    group, plus, _ = rest.partition("+")
    if plus:
        return group if group in groups else None
    splits = (rest.split("_", n) for n in range(1, rest.count("_") + 1))
    pairs = (("_".join(parts[:-1]), parts[-1]) for parts in splits)
    found = [group for group, of in pairs if group in groups and of in normal_topics]
    return found[0] if len(found) == 1 else None
