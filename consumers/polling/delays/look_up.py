"""Fetches single unfinished messages from the brokers that store them, and selects the rows that name one."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet

from consumers.models import Assignment, Cluster, ConsumerGroup, QueueSnapshot
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
    said = message.properties
    born_at, stored_at = time_of(message.born_ms), time_of(message.stored_ms)
    if born_at is None or stored_at is None:
        return HeadAnswer(error=stored_reason(PollProblem.WITHOUT_TIME, offset=str(message.queue_offset)))
    return HeadAnswer(
        message_id=said.get("UNIQ_KEY", message.stored_id)[:255],
        origin_topic=said["RETRY_TOPIC"][:255] if "RETRY_TOPIC" in said else None,
        keys=said.get("KEYS"),
        tags=said.get("TAGS"),
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
