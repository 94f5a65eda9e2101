"""A message that somebody asks for, to see whether a channel works."""

import uuid
from datetime import datetime
from typing import Any

from django.db import transaction

from consumers.alerts.channels.delivery.numbers import next_number
from consumers.alerts.channels.texts.sample import sample_payload
from consumers.models import Channel, Delivery, DeliveryStatus


def send_test(channel: Channel, by: Any, now: datetime) -> Delivery:
    """A delivery with `is_test` that waits; whoever asked hands the channel over to a worker.

    It goes before all others, also through a channel that is switched off, and is tried once.
    """
    delivery_id = uuid.uuid4()
    with transaction.atomic():
        number = next_number(channel)
        return Delivery.objects.create(
            id=delivery_id,
            channel=channel,
            number=number,
            is_test=True,
            payload=sample_payload(delivery_id, number, channel, by.get_username(), now),
            status=DeliveryStatus.WAITING,
            created_at=now,
            next_try_at=now,
        )
