"""Metric families under rocketmq-exporter's names."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from django.conf import settings

from consumers.groups.shown import UnknownWord
from consumers.overview.exporter import BrokerCounts, ExporterCluster, ExporterGroup, TopicPart
from consumers.rocketmq.names import DLQ_PREFIX, RETRY_PREFIX
from dashboard.metrics.exposition import Bounds, Family, Labels, label_text

DIFF = ("group", "topic", "countOfOnlineConsumers", "msgModel")

PART = ("cluster", "broker", "topic", "group")

# Ordinals of RocketMQ's MessageModel.
BROADCASTING, CLUSTERING = "0", "1"

MILLISECONDS = 1000

# As many digits as the exporter gives (Utils.getFixedDouble).
DIGITS = 2

Samples = Iterator[tuple[Labels, float]]

Counted = Callable[[BrokerCounts], float | None]

Named = Sequence[tuple[TopicPart, ExporterGroup, str]]


def _size(counts: BrokerCounts) -> float | None:
    return None if counts.bytes_per_second is None else round(counts.bytes_per_second, DIGITS)


# What brokers count themselves.
COUNTED: dict[str, tuple[str, Counted]] = {
    "rocketmq_consumer_message_size": ("Bytes per second that the broker delivered to the group.", _size),
    "rocketmq_send_back_nums": ("Messages sent back within a minute.", lambda counts: counts.sent_back_messages),
}


def group_families(cluster: ExporterCluster) -> Iterator[Family]:
    """The families of rocketmq-exporter that are about groups, with its names, labels and units
    (rocketmq-exporter 0.0.3-SNAPSHOT, RMQMetricsCollector, MetricsCollectTask).
    """
    named = list(_named(cluster))
    yield Family("rocketmq_group_diff", "Messages of the topic not consumed.", DIFF, _diffs(cluster, is_retry=False))
    yield Family("rocketmq_group_retrydiff", "The same of retry topics.", DIFF, _diffs(cluster, is_retry=True))
    yield Family("rocketmq_group_dlqdiff", "Messages in the dead-letter topic.", DIFF, _group_dead_letters(cluster))
    yield Family(
        "rocketmq_group_count", "Members that are online; their addresses and client ids.",
        ("caddr", "localaddr", "group"), _counts(cluster),
    )  # fmt: skip
    yield Family("rocketmq_consumer_offset", "Sum of the consumer offsets.", PART, _offsets(named))
    yield Family("rocketmq_message_accumulation", "Messages not consumed, broker by broker.", PART, _lags(named))
    yield Family(
        "rocketmq_consumer_tps", "Messages consumed per second, by offsets.", PART, _group_rates(cluster, named)
    )
    yield Family(
        "rocketmq_group_get_latency_by_storetime",
        "Milliseconds that the first message not consumed has waited since it was stored.",
        PART,
        _waits(cluster, named),
    )
    for name, (words, number) in COUNTED.items():
        yield Family(name, words, PART, _counted(cluster, named, number))


def _diffs(cluster: ExporterCluster, *, is_retry: bool) -> Samples:
    """Sums over brokers: unknown as soon as one of them is. Of a broadcasting group the exporter gives none."""
    for (group_id, topic), same in groupby(cluster.parts, key=lambda part: (part.group_id, part.topic)):
        group = cluster.groups[group_id]
        if topic.startswith(RETRY_PREFIX) is is_retry and _has_lag(group, topic) and not group.is_hidden:
            lags = [part.lag_messages for part in same if not part.is_idle]
            known = [lag for lag in lags if lag is not None]
            if known and len(known) == len(lags):
                yield (group.name, topic, _members(group), CLUSTERING), sum(known)


def _has_lag(group: ExporterGroup, topic: str) -> bool:
    return not (group.is_broadcasting or group.is_outside or topic == DLQ_PREFIX + group.name)


def _members(group: ExporterGroup) -> str | None:
    return None if group.members is None else str(group.members)


def _group_dead_letters(cluster: ExporterCluster) -> Samples:
    for group in cluster.groups.values():
        if group.dead_letters is not None:
            model = BROADCASTING if group.is_broadcasting else CLUSTERING
            yield (group.name, DLQ_PREFIX + group.name, _members(group), model), group.dead_letters


def _counts(cluster: ExporterCluster) -> Samples:
    for group in cluster.groups.values():
        if group.members is not None:
            present = cluster.clients.get(group.id, ())
            addresses = ",".join(client.address for client in present)
            yield (addresses, ",".join(client.client_id for client in present), group.name), group.members


def _named(cluster: ExporterCluster) -> Iterator[tuple[TopicPart, ExporterGroup, str]]:
    """The parts on brokers whose cluster has a name, with their labels, which four families share."""
    for part in cluster.parts:
        named, group = cluster.clusters.get(part.broker), cluster.groups[part.group_id]
        if named is not None and not part.topic.startswith(DLQ_PREFIX):
            yield part, group, label_text(PART, (named, part.broker, part.topic, group.name))


def _offsets(named: Named) -> Samples:
    for part, group, text in named:
        if part.consumer_offset is not None and not group.is_outside:
            yield text, part.consumer_offset


def _lags(named: Named) -> Samples:
    for part, group, text in named:
        if part.lag_messages is not None and _has_lag(group, part.topic):
            yield text, part.lag_messages


def _group_rates(cluster: ExporterCluster, named: Named) -> Samples:
    rates = cluster.moved.consumed or {}
    for part, group, text in named:
        rate = rates.get((group.name, part.topic, part.broker))
        if rate is not None and not group.is_outside and not part.topic.startswith(RETRY_PREFIX):
            yield text, rate


def _counted(cluster: ExporterCluster, named: Named, number: Counted) -> Samples:
    for part, group, text in named:
        counts = cluster.counts.get((part.topic, part.broker, group.name))
        value = None if counts is None else number(counts)
        if value is not None:
            yield text, value


def _waits(cluster: ExporterCluster, named: Named) -> Samples:
    for part, group, text in named:
        wait = cluster.waits.get((part.group_id, part.topic, part.broker))
        if wait is not None and _has_lag(group, part.topic):
            yield text, round(wait * MILLISECONDS)


# Those about topics that groups have offsets of.

TOPIC = ("cluster", "broker", "topic")


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
    yield Family("rocketmq_producer_message_size", "Bytes per second that were stored.", TOPIC, _sizes(cluster))


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


def _sizes(cluster: ExporterCluster) -> Samples:
    for topic, broker in cluster.ends:
        named, counts = cluster.clusters.get(broker), cluster.counts.get((topic, broker, ""))
        value = None if counts is None else _size(counts)
        if named is not None and value is not None:
            yield (named, broker, topic), value


# The families of rocketmq-exporter that are about members: what each says of its last minute.

LABELS = ("clientAddr", "clientId", "group", "topic")

# The exporter's names and our names of RocketMQ's ConsumeStatus.
FAMILIES = {
    "consume_fail_msg_count": ("consume_failed_messages", "Messages that failed in the member's last hour."),
    "consume_fail_msg_tps": ("consume_failed_tps", "Messages that fail per second."),
    "consume_ok_msg_tps": ("consume_ok_tps", "Messages that succeed per second."),
    "consume_rt": ("consume_rt", "Milliseconds that a message takes."),
    "consumer_pull_rt": ("pull_rt", "Milliseconds that a pull takes."),
    "consumer_pull_tps": ("pull_tps", "Messages pulled per second."),
}

MemberNumbers = tuple[str, Mapping[str, float | None]]


def client_families(cluster: ExporterCluster) -> Iterator[Family]:
    reported = list(_member_numbers(cluster))
    for name, (field, words) in FAMILIES.items():
        yield Family(f"rocketmq_client_{name}", words, LABELS, _numbers(reported, field))


def _numbers(reported: Iterable[MemberNumbers], field: str) -> Iterator[tuple[str, float]]:
    for text, status in reported:
        number = status.get(field)
        if number is not None:
            yield text, number


def _member_numbers(cluster: ExporterCluster) -> Iterator[MemberNumbers]:
    """Yields the labels of each member and topic, with the numbers that the member reports for the topic."""
    for group in cluster.groups.values():
        if group.members is None:
            continue
        for client in cluster.clients.get(group.id, ()):
            for topic, status in (client.said or {}).items():
                yield label_text(LABELS, (client.address, client.client_id, group.name, topic)), status


def exporter_families(cluster: ExporterCluster, bounds: Bounds) -> Iterator[Family]:
    yield from bounds.bounded(group_families(cluster))
    yield from bounds.bounded(topic_families(cluster))
    if cluster.counts:
        for family, count in not_asked(cluster).items():
            bounds.leave_out(family, count)
    if settings.METRICS_CLIENT_SERIES:
        yield from bounds.bounded(client_families(cluster), settings.METRICS_CLIENT_SERIES)


def not_asked(cluster: ExporterCluster) -> dict[str, int]:
    """By family, how many series brokers were not asked for: their number in a minute is bounded."""
    parts = [
        part
        for part in cluster.parts
        if part.broker in cluster.clusters and not part.topic.startswith((RETRY_PREFIX, DLQ_PREFIX))
    ]
    groups = sum((one.topic, one.broker, cluster.groups[one.group_id].name) not in cluster.counts for one in parts)
    topics = sum(
        _is_plain(topic) and broker in cluster.clusters and (topic, broker, "") not in cluster.counts
        for topic, broker in cluster.ends
    )
    return {**dict.fromkeys(COUNTED, groups), "rocketmq_producer_message_size": topics}


def unknown_samples(cluster: ExporterCluster) -> Iterator[tuple[Labels, float]]:
    if None in cluster.clusters.values():
        yield (cluster.name, "", UnknownWord.CLUSTER_NAME_UNREAD), 1
    if cluster.moved.consumed is None or cluster.moved.dead_letters is None:
        yield (cluster.name, "", UnknownWord.READINGS_NOT_KEPT), 1
