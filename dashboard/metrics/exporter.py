"""The families under rocketmq-exporter's names, and why some of it is not there."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from django.conf import settings

from consumers.groups.unknown_words import UnknownWord
from consumers.overview.exporter import ExporterCluster
from consumers.rocketmq.names import DLQ_PREFIX, RETRY_PREFIX

from .bounded import Bounds
from .exporter_groups import group_families
from .exposition import Family, Labels, label_text

# The families of rocketmq-exporter that are about topics: of those that groups have offsets of.

TOPIC = ("cluster", "broker", "topic")

Samples = Iterator[tuple[Labels, float]]


def topic_families(cluster: ExporterCluster) -> Iterator[Family]:
    yield Family("rocketmq_producer_offset", "Sum of the broker offsets.", TOPIC, _ends(cluster, _is_plain))
    yield Family(
        "rocketmq_topic_retry_offset", "The same of retry topics.", TOPIC,
        _ends(cluster, lambda topic: topic.startswith(RETRY_PREFIX)),
    )  # fmt: skip
    yield Family(
        "rocketmq_topic_dlq_offset", "The same of dead-letter topics.", ("cluster", "broker", "group"),
        _dead_letters(cluster),
    )  # fmt: skip
    yield Family("rocketmq_producer_tps", "Messages produced per second, by offsets.", TOPIC, _rates(cluster))


def _is_plain(topic: str) -> bool:
    return not topic.startswith((RETRY_PREFIX, DLQ_PREFIX))


def _ends(cluster: ExporterCluster, is_wanted: Callable[[str], bool]) -> Samples:
    for (topic, broker), end in cluster.ends.items():
        named = cluster.clusters.get(broker)
        if named is not None and end is not None and is_wanted(topic):
            yield (named, broker, topic), end


def _dead_letters(cluster: ExporterCluster) -> Samples:
    names = {group.name for group in cluster.groups.values()}
    for (topic, broker), end in sorted((cluster.moved.dead_letters or {}).items()):
        named, group = cluster.clusters.get(broker), topic.removeprefix(DLQ_PREFIX)
        if named is not None and group in names:
            yield (named, broker, group), end


def _rates(cluster: ExporterCluster) -> Samples:
    for (topic, broker), rate in sorted(cluster.moved.produced.items()):
        named = cluster.clusters.get(broker)
        if named is not None and _is_plain(topic) and (topic, broker) in cluster.ends:
            yield (named, broker, topic), rate


# The families of rocketmq-exporter that are about members: what each says of its last minute.

LABELS = ("clientAddr", "clientId", "group", "topic")
# Our names of RocketMQ's ConsumeStatus; its pull times and rates are not kept.
FAMILIES = {
    "consume_fail_msg_count": ("consume_failed_messages", "Messages that failed in the member's last hour."),
    "consume_fail_msg_tps": ("consume_failed_tps", "Messages that fail per second."),
    "consume_ok_msg_tps": ("consume_ok_tps", "Messages that succeed per second."),
    "consume_rt": ("consume_rt", "Milliseconds that a message takes."),
}

Said = tuple[str, Mapping[str, float | None]]


def client_families(cluster: ExporterCluster) -> Iterator[Family]:
    said = list(_said(cluster))
    for name, (field, words) in FAMILIES.items():
        yield Family(f"rocketmq_client_{name}", words, LABELS, _numbers(said, field))


def _numbers(said: Iterable[Said], field: str) -> Iterator[tuple[str, float]]:
    for text, status in said:
        number = status.get(field)
        if number is not None:
            yield text, number


def _said(cluster: ExporterCluster) -> Iterator[Said]:
    """The labels of each member and topic, with what the member says of it."""
    for group in cluster.groups.values():
        if group.members is None:
            continue
        for client in cluster.clients.get(group.id, ()):
            for topic, status in (client.said or {}).items():
                yield label_text(LABELS, (client.address, client.client_id, group.name, topic)), status


def exporter_families(cluster: ExporterCluster, bounds: Bounds) -> Iterator[Family]:
    yield from bounds.bounded(group_families(cluster))
    yield from bounds.bounded(topic_families(cluster))
    if settings.METRICS_CLIENT_SERIES:
        yield from bounds.bounded(client_families(cluster), settings.METRICS_CLIENT_SERIES)


def unknown_samples(cluster: ExporterCluster) -> Iterator[tuple[Labels, float]]:
    if None in cluster.clusters.values():
        yield (cluster.name, "", UnknownWord.CLUSTER_NAME_UNREAD), 1
    if cluster.moved.consumed is None or cluster.moved.dead_letters is None:
        yield (cluster.name, "", UnknownWord.READINGS_NOT_KEPT), 1
