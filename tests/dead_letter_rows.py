"""Rows of dead letters, looks into their queues and re-sends; and a group whose dead letters may be sent again."""

from datetime import datetime, timedelta
from typing import Any

from consumers.models import (
    ConsumerGroup,
    DeadLetter,
    DeadLetterLook,
    Destination,
    GroupBroker,
    Resend,
    ResendItem,
    ResendOutcome,
    ResendStatus,
)
from tests.world import NOW, a_broker, a_cluster, a_group, a_queue, ago

MINUTE_AGO = NOW - timedelta(minutes=1)


def a_letter(group: ConsumerGroup, offset: int = 0, *, stored_at: datetime = MINUTE_AGO, **fields: Any) -> DeadLetter:
    said = {
        "broker": "broker-a",
        "queue_id": 0,
        "stored_id": f"7F00000100002A9F{offset:016X}",
        "message_id": f"UNIQ-{offset}",
        "origin_topic": "Order",
        "origin_message_id": None,
        "keys": f"order-{offset}",
        "tags": None,
        "reconsume_times": 4,
        "born_at": stored_at - timedelta(minutes=5),
        "size": 100,
        "sent_by_application": False,
        "seen_at": NOW,
    }
    return DeadLetter.objects.create(group=group, offset=offset, stored_at=stored_at, **{**said, **fields})


def a_look(group: ConsumerGroup, since: int | None, until: int | None, **fields: Any) -> DeadLetterLook:
    """[since, until) has rows; without more, that is all of the queue."""
    said = {
        "broker": "broker-a",
        "queue_id": 0,
        "indexed_from": since,
        "indexed_to": until,
        "min_offset": since,
        "broker_offset": until,
        "looked_at": NOW,
    }
    return DeadLetterLook.objects.create(group=group, **{**said, **fields})


def a_resend(group: ConsumerGroup, **fields: Any) -> Resend:
    said = {
        "by_name": "ops",
        "reason": "the database was down",
        "destination": Destination.GROUP,
        "selection": {"messages": []},
        "rate_per_second": 20.0,
        "status": ResendStatus.DONE,
        "created_at": MINUTE_AGO,
        "expires_at": NOW,
    }
    return Resend.objects.create(group=group, **{**said, **fields})


def an_item(resend: Resend, letter: DeadLetter, **fields: Any) -> ResendItem:
    said = {
        "broker": letter.broker,
        "queue_id": letter.queue_id,
        "offset": letter.offset,
        "stored_id": letter.stored_id,
        "message_id": letter.message_id,
        "outcome": ResendOutcome.SENT,
        "at": MINUTE_AGO,
    }
    return ResendItem.objects.create(resend=resend, **{**said, **fields})


def a_resendable_group() -> ConsumerGroup:
    """`billing` on `prod`, with the topic Order."""
    cluster = a_cluster()
    a_broker(cluster, permission=6, routed_permission=6, config_at=ago(5), routed_at=ago(5))
    group = a_group(cluster)
    values = {"configured": True, "retry_queue_nums": 1, "retry_permissions": {"%RETRY%billing": 6}}
    GroupBroker.objects.create(group=group, broker="broker-a", changed_at=ago(60), **values)
    a_queue(cluster, "Order")
    a_queue(cluster, "%RETRY%billing", kind="retry")
    return group
