"""Channels, stored, tested and removed by people. What the log says of it names no address."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from consumers.alerts.channels.channel_settings import checked_channel, saved
from consumers.alerts.channels.delivery.queue import next_number
from consumers.alerts.channels.texts.sample import sample_payload
from consumers.errands.audit import note
from consumers.models import Channel, Delivery, DeliveryStatus


@transaction.atomic
def keep_channel(fields: Mapping[str, Any], channel: Channel | None, by: Any, now: datetime) -> Channel:
    """`channel` with `fields`, see `checked_channel`; a new one where it is None. Raises AlertRefused."""
    kept = saved(checked_channel(fields, channel), channel, by, now)
    sentence = f"Changed {', '.join(sorted(fields)) or 'nothing'}." if channel else "Made the channel."
    note(kept, kept.name, by, sentence, now)
    return kept


@transaction.atomic
def remove_channel(channel: Channel, by: Any, now: datetime) -> None:
    """With its messages: those that wait are not sent."""
    note(channel, channel.name, by, "Removed the channel.", now)
    channel.delete()


def send_test(channel: Channel, by: Any, now: datetime) -> Delivery:
    """A delivery with `is_test` that waits; the caller hands the channel over to a worker.

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
