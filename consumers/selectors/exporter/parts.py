"""The offsets of each group, topic and broker, as sums of their queues: what is not known of one is known of no sum."""

from collections.abc import Container, Mapping
from dataclasses import dataclass

from django.db.models import Count, F, Max, Q, Sum

from consumers.models import Queue, QueueSnapshot, Topic
from consumers.polling.reading import (
    AHEAD,
    NEVER_COMMITTED,
    NO_BROKER_OFFSET,
    NO_LAG_REASONS,
    NOT_CAUGHT_UP,
    NOT_REPORTED,
    QUEUE_GONE,
    TOPIC_GONE,
)

# The consumer offset of such a queue is what the broker says, although there is no lag.
WITH_OFFSET = (AHEAD, NO_BROKER_OFFSET, TOPIC_GONE, QUEUE_GONE)
KNOWN_LAG = Q(unknown_reason=None, consumer_offset__isnull=False, broker_offset__isnull=False)
KNOWN_OFFSET = Q(consumer_offset__isnull=False) & (Q(unknown_reason=None) | Q(unknown_reason__in=WITH_OFFSET))
CHUNK = 2000


@dataclass(frozen=True, slots=True)
class TopicPart:
    """What a group has of a topic on one broker. Null is not known, or that no queue of it has an offset.

    `is_idle`: no queue of it has a lag by its nature (never committed, or gone): sums are whole without it.
    """

    group_id: int
    topic: str
    broker: str
    consumer_offset: int | None
    lag_messages: int | None
    is_idle: bool


def topic_parts(cluster_id: int, groups: Mapping[int, str], read: Container[str]) -> list[TopicPart]:
    """Of the `groups` (names by id), by group, topic and broker. What is on no broker of `read` is not known.

    Two queries.
    """
    topics = dict(Topic.objects.filter(cluster=cluster_id).values_list("pk", "name"))
    no_lag = Q(unknown_reason__in=NO_LAG_REASONS)
    rows = (
        QueueSnapshot.objects.filter(group__cluster=cluster_id)
        .values_list("group_id", "queue__topic_id", "queue__broker")
        .annotate(
            unknown=Count("pk", filter=~KNOWN_LAG & ~no_lag),
            known=Count("pk", filter=KNOWN_LAG),
            lag=Sum(F("broker_offset") - F("consumer_offset"), filter=KNOWN_LAG),
            untold=Count("pk", filter=~KNOWN_OFFSET & ~Q(unknown_reason=NEVER_COMMITTED)),
            offset=Sum("consumer_offset", filter=KNOWN_OFFSET),
        )
        .order_by()
    )
    parts = [
        TopicPart(
            group, topics[topic], broker,
            consumer_offset=None if untold or broker not in read else offset,
            lag_messages=None if unknown or broker not in read else lag,
            is_idle=not known and not unknown and broker in read,
        )
        for group, topic, broker, unknown, known, lag, untold, offset in rows.iterator(chunk_size=CHUNK)
        if group in groups
    ]  # fmt: skip
    return sorted(parts, key=lambda part: (groups[part.group_id], part.topic, part.broker))


def broker_ends(cluster_id: int, topics: Container[str], read: Container[str]) -> dict[tuple[str, str], int | None]:
    """By topic and broker, in their order, the sum of the broker offsets; null where one of them is not known.

    Of the topics that groups have offsets of, no others: no end of the rest is read. Two queries.
    """
    rows = (
        QueueSnapshot.objects.filter(group__cluster=cluster_id)
        .exclude(unknown_reason__in=(TOPIC_GONE, QUEUE_GONE))
        .values_list("queue__topic__name", "queue__broker", "queue_id")
        .annotate(end=Max("broker_offset", filter=~Q(unknown_reason__in=(NOT_REPORTED, NOT_CAUGHT_UP))))
        .order_by()
    )
    ends: dict[tuple[str, str], int | None] = {}
    for topic, broker, _queue, end in rows.iterator(chunk_size=CHUNK):
        if topic in topics:
            before = ends.get((topic, broker), 0)
            ends[topic, broker] = None if before is None or end is None or broker not in read else before + end
    # Queues that take messages and give none are in no reading of offsets.
    unseen = Queue.objects.filter(topic__cluster=cluster_id, readable=False, writable=True, snapshots=None)
    unknown = dict.fromkeys(unseen.values_list("topic__name", "broker"))
    return {key: None if key in unknown else end for key, end in sorted(ends.items())}
