"""The oldest messages that members hold and do not finish: selected from rows, fetched from the brokers that have them,
and recorded.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet, Subquery

from consumers.models import Assignment, Cluster, ConsumerGroup, HeadMessage, Queue, QueueSnapshot
from consumers.polling.reading import OffsetsReading
from consumers.polling.registration import Wire
from consumers.polling.samples.first_stored import expired, not_found
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.stored import StoredMessage
from consumers.rocketmq.wire.codes import RocketMQError, time_of
from consumers.vocabulary.reasons import PollProblem, stored_reason

# The poll fetches no other messages that members hold.
CALLS_EACH = 2


@dataclass(frozen=True)
class HeadLimits:
    """A stuck message is fetched once after `seconds`; at most `calls` fetches a reading and cluster."""

    seconds: float = 45
    calls: int = 10


@dataclass(frozen=True)
class Head:
    """The oldest message that a member holds, by the ids of its rows and by its place."""

    group_id: int
    queue_id: int
    client_id: str
    offset: int
    since: datetime
    topic: str
    broker: str
    broker_queue: int


@dataclass(frozen=True)
class HeadAnswer:
    """Properties of the message. If it could not be fetched, `error` is the reason."""

    message_id: str | None = None
    origin_topic: str | None = None
    keys: str | None = None
    tags: str | None = None
    reconsume_times: int | None = None
    size: int | None = None
    born_at: datetime | None = None
    stored_at: datetime | None = None
    error: str | None = None


async def look_up(
    admins: Mapping[str, BrokerAdmin], heads: Sequence[Head], deadline_seconds: float
) -> list[HeadAnswer]:
    """One answer for each. `admins`: by broker name. No call is made for an expired message: older brokers would store
    an event (RocketMQ 4.9, PullMessageProcessor.generateOffsetMovedEvent).
    """
    return await asyncio.gather(*(_look_up(admins[head.broker], head, deadline_seconds) for head in heads))


async def _look_up(admin: BrokerAdmin, head: Head, deadline: float) -> HeadAnswer:
    try:
        minimum = await admin.min_offset(head.topic, head.broker_queue, deadline_seconds=deadline)
        if head.offset < minimum:
            return HeadAnswer(error=expired(head.offset, minimum))
        pulled = await admin.pull(head.topic, head.broker_queue, head.offset, deadline_seconds=deadline)
    except RocketMQError as failure:
        return HeadAnswer(error=str(failure))
    message = pulled.messages[0] if pulled.messages else None
    if message is None or message.queue_offset != head.offset:
        return HeadAnswer(error=not_found(head.offset, pulled))
    return head_answer(message)


def head_answer(message: StoredMessage) -> HeadAnswer:
    """RocketMQ's own properties of the message (5.4.0, MessageConst). A message without an id is identified by its
    place.
    """
    properties = message.properties
    born_at, stored_at = time_of(message.born_ms), time_of(message.stored_ms)
    if born_at is None or stored_at is None:
        return HeadAnswer(error=stored_reason(PollProblem.WITHOUT_TIME, offset=str(message.queue_offset)))
    return HeadAnswer(
        message_id=properties.get("UNIQ_KEY", message.stored_id)[:255],
        origin_topic=properties["RETRY_TOPIC"][:255] if "RETRY_TOPIC" in properties else None,
        keys=properties.get("KEYS"),
        tags=properties.get("TAGS"),
        reconsume_times=message.reconsume_times,
        size=message.body_bytes,
        born_at=born_at,
        stored_at=stored_at,
    )


# Selects the oldest messages that members hold and do not finish.
def unfinished_heads(seconds: float, now: datetime, **of_groups: Any) -> QuerySet[Assignment]:
    """Present stuck messages, the longest-stuck first: seen at least twice over `seconds`, and not known to be
    finished.

    Brokers report consumer offsets more often than members answer, so an offset beyond the message proves that it is
    finished. `of_groups`: a filter on groups. The filter applies to each message, since SQLite would otherwise start
    with all queues of all such groups.
    """
    finished = QueueSnapshot.objects.filter(
        group=OuterRef("group"), queue=OuterRef("queue"), consumer_offset__gt=OuterRef("cached_min")
    )
    rows = Assignment.objects.filter(
        gone_by=None, head_since__lte=now - timedelta(seconds=seconds), last_seen__gt=F("head_since")
    )
    if of_groups:
        rows = rows.filter(Exists(ConsumerGroup.objects.filter(pk=OuterRef("group"), **of_groups)))
    return rows.filter(~Exists(finished)).order_by("head_since", "pk")


def groups_with_unfinished_heads(cluster: Cluster, seconds: float, now: datetime) -> frozenset[str]:
    """The names of these groups."""
    rows = unfinished_heads(seconds, now, cluster=cluster).order_by()
    return frozenset(rows.values_list("group__name", flat=True).distinct())


FAILURE_HOLDS = timedelta(seconds=60)


def due_heads(cluster: Cluster, brokers: Collection[str], limits: HeadLimits, now: datetime) -> list[Head]:
    """Stuck messages to fetch: those never fetched first, then those whose fetch failed longest ago; the longest-stuck
    first.
    """
    places = limits.calls // CALLS_EACH
    if places <= 0 or not brokers:
        return []
    same = HeadMessage.objects.filter(
        group=OuterRef("group"), queue=OuterRef("queue"), client_id=OuterRef("client_id"), offset=OuterRef("cached_min")
    )
    asked = Queue.objects.filter(pk=OuterRef("queue"), broker__in=list(brokers))
    unfinished = unfinished_heads(limits.seconds, now, cluster=cluster).filter(Exists(asked))
    found = _heads(unfinished.filter(~Exists(same)), places)
    if len(found) < places:
        failed = same.filter(error__isnull=False, asked_at__lte=now - FAILURE_HOLDS)
        again = unfinished.annotate(asked_at=Subquery(failed.values("asked_at")[:1])).filter(asked_at__isnull=False)
        found += _heads(again.order_by("asked_at", "head_since", "pk"), places - len(found))
    return found


def _heads(rows: QuerySet[Assignment], count: int) -> list[Head]:
    names = ("group_id", "queue_id", "client_id", "cached_min", "head_since")
    place = ("queue__topic__name", "queue__broker", "queue__queue_id")
    return [Head(*row) for row in rows.values_list(*names, *place)[:count]]


# Fetched stuck messages as rows: one row each, deleted as soon as the member is past the message.
FIELDS = (
    "offset",
    "since",
    "message_id",
    "origin_topic",
    "keys",
    "tags",
    "reconsume_times",
    "size",
    "born_at",
    "stored_at",
    "error",
    "asked_at",
)


def forget_heads(cluster: Cluster) -> None:
    """Deletes messages that no present member holds as its oldest message any more."""
    held = Assignment.objects.filter(
        group=OuterRef("group"),
        queue=OuterRef("queue"),
        client_id=OuterRef("client_id"),
        gone_by=None,
        cached_min=OuterRef("offset"),
    )
    gone = HeadMessage.objects.filter(~Exists(held), group__cluster=cluster).values_list("pk", flat=True)
    if keys := list(gone):
        HeadMessage.objects.filter(pk__in=keys).delete()


def record_heads(heads: Sequence[Head], answers: Sequence[HeadAnswer], now: datetime) -> None:
    rows = [
        HeadMessage(
            group_id=head.group_id,
            queue_id=head.queue_id,
            client_id=head.client_id,
            offset=head.offset,
            since=head.since,
            asked_at=now,
            **asdict(answer),
        )
        for head, answer in zip(heads, answers, strict=True)
    ]
    HeadMessage.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["group", "queue", "client_id"], update_fields=FIELDS
    )


class HeadPoller:
    """One per cluster and process. It remembers nothing: the rows hold what was fetched."""

    def __init__(self, cluster: Cluster, limits: HeadLimits) -> None:
        self._cluster = cluster
        self._limits = limits

    def poll(self, wire: Wire, offsets: OffsetsReading, now: datetime, deadline_seconds: float) -> dict[str, Any]:
        """Returns counts that are stored with the reading. A failed call is an error of its own message only."""
        calls = wire.pool.calls
        forget_heads(self._cluster)
        admins = {one.name: BrokerAdmin(wire.pool, one.answered_by) for one in offsets.brokers if one.answered_by}
        read = [one.name for one in offsets.brokers if one.read and one.name in admins]
        heads = due_heads(self._cluster, read, self._limits, now)
        if heads:
            record_heads(heads, wire.run(look_up(admins, heads, deadline_seconds)), now)
        return {"looked_up": len(heads), "calls": wire.pool.calls - calls}
