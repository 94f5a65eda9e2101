"""The offsets of each group, topic and broker, as sums of their queues: what is not known of one is known of no sum."""

from collections.abc import Collection, Container
from operator import attrgetter
from typing import NamedTuple

from django.db.models import Count, F, Max, Q, Sum

from consumers.models import Queue, QueueSnapshot, Topic
from consumers.vocabulary.unknown import NO_LAG_REASONS, UnknownReason

# The consumer offset of such a queue is what the broker says, although there is no lag.
WITH_OFFSET = (
    UnknownReason.CONSUMER_AHEAD,
    UnknownReason.NO_BROKER_OFFSET,
    UnknownReason.TOPIC_GONE,
    UnknownReason.QUEUE_GONE,
)
KNOWN_LAG = Q(unknown_reason=None, consumer_offset__isnull=False, broker_offset__isnull=False)
KNOWN_OFFSET = Q(consumer_offset__isnull=False) & (Q(unknown_reason=None) | Q(unknown_reason__in=WITH_OFFSET))
CHUNK = 2000


class TopicPart(NamedTuple):
    """What a group has of a topic on one broker. Null is not known, or that no queue of it has an offset.

    `is_idle`: no queue of it has a lag by its nature (never committed, or gone): sums are whole without it.
    """

    group_id: int
    topic: str
    broker: str
    consumer_offset: int | None
    lag_messages: int | None
    is_idle: bool


def topic_parts(cluster_id: int, groups: Collection[int], read: Container[str]) -> list[TopicPart]:
    """In the order of `groups`, then by topic and broker. What is on no broker of `read` is not known.

    Two queries.
    """
    no_lag = Q(unknown_reason__in=NO_LAG_REASONS)
    rows = (
        QueueSnapshot.objects.filter(group__cluster=cluster_id)
        .values_list("group_id", "queue__topic_id", "queue__broker")
        .annotate(
            unknown=Count("pk", filter=~KNOWN_LAG & ~no_lag),
            known=Count("pk", filter=KNOWN_LAG),
            lag=Sum(F("broker_offset") - F("consumer_offset"), filter=KNOWN_LAG),
            untold=Count("pk", filter=~KNOWN_OFFSET & ~Q(unknown_reason=UnknownReason.NEVER_COMMITTED)),
            offset=Sum("consumer_offset", filter=KNOWN_OFFSET),
        )
        .order_by()
    )
    found = [row for row in rows.iterator(chunk_size=CHUNK) if row[0] in groups]
    # After the rows: those of a topic that came meanwhile have a name, those of one that went are of nothing any more.
    topics = dict(Topic.objects.filter(cluster=cluster_id).values_list("pk", "name"))
    parts: dict[int, list[TopicPart]] = {}
    for group, topic, broker, unknown, known, lag, untold, offset in found:
        if topic in topics:
            is_read = broker in read
            part = TopicPart(
                group, topics[topic], broker,
                None if untold or not is_read else offset,
                None if unknown or not is_read else lag,
                is_read and not known and not unknown,
            )  # fmt: skip
            parts.setdefault(group, []).append(part)
    place = attrgetter("topic", "broker")
    return [part for group in groups for part in sorted(parts.get(group, ()), key=place)]


def broker_ends(cluster_id: int, topics: Container[str], read: Container[str]) -> dict[tuple[str, str], int | None]:
    """By topic and broker, in their order, the sum of the broker offsets; null where one of them is not known.

    Of the topics that groups have offsets of, no others: no end of the rest is read. Two queries.
    """
    rows = (
        QueueSnapshot.objects.filter(group__cluster=cluster_id)
        .exclude(unknown_reason__in=(UnknownReason.TOPIC_GONE, UnknownReason.QUEUE_GONE))
        .values_list("queue__topic__name", "queue__broker", "queue_id")
        .annotate(
            end=Max(
                "broker_offset", filter=~Q(unknown_reason__in=(UnknownReason.NOT_REPORTED, UnknownReason.SLAVE_BEHIND))
            )
        )
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
