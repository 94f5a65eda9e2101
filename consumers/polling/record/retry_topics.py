"""Whose retry topics a broker's topics are."""

from collections.abc import Iterable, Mapping

from consumers.rocketmq.broker_values import TopicConfig
from consumers.rocketmq.names import RETRY_PREFIX, topic_kind

READ_OR_WRITE = 6  # bits of a topic's perm (RocketMQ 5.4.0, PermName); 1, inherit, says nothing here


def retry_permissions(topics: Iterable[TopicConfig], groups: Mapping[str, object]) -> dict[str, dict[str, int]]:
    """{group: {retry topic: a sum of 4 (read) and 2 (write)}} of those among `groups`.

    POP retries have a topic per group and topic (names.is_retry_topic_of). A name that is a group's own in full is
    nothing else; where `group_topic` can be split at several places, it counts for each group that it can be of.
    """
    listed = list(topics)
    normal = {topic.name for topic in listed if topic_kind(topic.name) == "normal"}
    found: dict[str, dict[str, int]] = {}
    for topic in listed:
        if topic.name.startswith(RETRY_PREFIX):
            for group in _groups_of(topic.name.removeprefix(RETRY_PREFIX), groups, normal):
                found.setdefault(group, {})[topic.name] = topic.perm & READ_OR_WRITE
    return found


def _groups_of(rest: str, groups: Mapping[str, object], normal: set[str]) -> list[str]:
    if rest in groups:
        return [rest]
    group, plus, _ = rest.partition("+")
    if plus:
        return [group] if group in groups else []
    places = [at for at, letter in enumerate(rest) if letter == "_"]
    return [rest[:at] for at in places if rest[:at] in groups and rest[at + 1 :] in normal]
