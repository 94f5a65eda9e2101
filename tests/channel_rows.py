"""Channels that can be sent through, and messages that wait for them."""

from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from consumers.alerts.channels.channel_settings import checked_channel, saved
from consumers.alerts.channels.payload import payload_of
from consumers.alerts.channels.queue import next_number
from consumers.models import Channel, Delivery, DeliveryEvent, IncidentEvent
from tests.world import NOW

SECRET = "canary-secret-0123456789"


def a_webhook(url: str, name: str = "on call", **fields: Any) -> Channel:
    return a_real_channel(name, kind="webhook", url=url, **({"secret": SECRET} | fields))


def a_real_channel(name: str, **fields: Any) -> Channel:
    return saved(checked_channel({"name": name, **fields}), None, User(username="ann"), NOW)


def a_message(channel: Channel, *events: IncidentEvent, at: datetime = NOW) -> Delivery:
    """Of these changes, as the evaluation leaves it."""
    delivery = Delivery(channel=channel, number=next_number(channel), status="waiting", created_at=at, next_try_at=at)
    rule = events[0].incident.rule
    delivery.payload = payload_of(delivery.pk, delivery.number, channel, rule, events)
    delivery.save()
    for event in events:
        DeliveryEvent.objects.create(delivery=delivery, channel=channel, event=event)
    return delivery
