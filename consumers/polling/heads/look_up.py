"""Looks up single unfinished messages at the brokers that store them, and which rows name one."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet

from consumers.models import Assignment, Cluster, ConsumerGroup, QueueSnapshot
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.stored import Pulled, PullOutcome, StoredMessage
from consumers.rocketmq.wire.errors import RocketMQError
from consumers.rocketmq.wire.values import time_of

# Looks single messages up at the brokers that store them: the poll's only look into what members hold.
CALLS_EACH = 2

NO_TIME = "the message at {offset} bears a time that no calendar has"


@dataclass(frozen=True)
class HeadLimits:
    """A head that stands for `seconds` is looked up once; so many `calls` a reading and cluster."""

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
    """What the message says of itself; of a null one `error` is the reason."""

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
    """One answer for each. `admins`: by the brokers' names. Nobody is asked for a message that has expired: older
    brokers would store an event (RocketMQ 4.9, PullMessageProcessor.generateOffsetMovedEvent)."""
    return await asyncio.gather(*(_look_up(admins[head.broker], head, deadline_seconds) for head in heads))


async def _look_up(admin: BrokerAdmin, head: Head, deadline: float) -> HeadAnswer:
    try:
        minimum = await admin.min_offset(head.topic, head.broker_queue, deadline_seconds=deadline)
        if head.offset < minimum:
            return HeadAnswer(error=f"the message at {head.offset} has expired: the oldest is at {minimum}")
        pulled = await admin.pull(head.topic, head.broker_queue, head.offset, deadline_seconds=deadline)
    except RocketMQError as failure:
        return HeadAnswer(error=str(failure))
    message = pulled.messages[0] if pulled.messages else None
    if message is None or message.queue_offset != head.offset:
        return HeadAnswer(error=_why_not_found(head.offset, pulled))
    return head_answer(message)


def _why_not_found(offset: int, pulled: Pulled) -> str:
    if pulled.outcome is PullOutcome.NO_MESSAGE_YET:
        return f"the broker has no message at {offset} yet"
    on = pulled.messages[0].queue_offset if pulled.messages else pulled.next_offset
    return f"the message at {offset} is gone: the broker goes on at {on}"


def head_answer(message: StoredMessage) -> HeadAnswer:
    """RocketMQ's own properties of it (5.4.0, MessageConst). A message without an id of its own goes by its place."""
    said = message.properties
    born_at, stored_at = time_of(message.born_ms), time_of(message.stored_ms)
    if born_at is None or stored_at is None:
        return HeadAnswer(error=NO_TIME.format(offset=message.queue_offset))
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


# Oldest messages that members hold and do not finish: which rows tell of one.
def standing_heads(seconds: float, now: datetime, **of_groups: Any) -> QuerySet[Assignment]:
    """Present ones that stand for so long, the longest first: seen twice at least, and not known to be finished.

    A consumer offset beyond it is read more often than its member is heard. `of_groups`: which groups, as a filter;
    asked of each head, since SQLite would begin with all queues of all such groups.
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


def groups_with_standing_heads(cluster: Cluster, seconds: float, now: datetime) -> frozenset[str]:
    """Their names."""
    rows = standing_heads(seconds, now, cluster=cluster).order_by()
    return frozenset(rows.values_list("group__name", flat=True).distinct())
