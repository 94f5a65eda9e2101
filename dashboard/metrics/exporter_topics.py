"""The families of rocketmq-exporter that are about topics: of those that groups have offsets of."""

from collections.abc import Callable, Iterator

from consumers.rocketmq.names import DLQ_PREFIX, RETRY_PREFIX
from consumers.selectors.exporter.cluster import ExporterCluster

from .exposition import Family, Labels

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
