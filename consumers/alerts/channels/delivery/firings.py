"""The messages of a channel that first notified of incidents."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import QuerySet

from consumers.models import (
    Channel,
    Delivery,
    DeliveryEvent,
    DeliveryStatus,
    Incident,
    IncidentEventKind,
    IncidentStatus,
)

from .payload import Payload


def notified_before(delivery: Delivery) -> dict[str, Delivery]:
    """By the incident's id: the earlier delivery of this channel that told that it fires. One query."""
    incidents = DeliveryEvent.objects.filter(delivery=delivery).values("event__incident")
    ids = {event["incident"]["id"] for event in delivery.payload["events"]}
    earlier = _deliveries(delivery.channel_id, incidents).filter(number__lt=delivery.number)
    return {event["incident"]["id"]: earlier_one for earlier_one, event in _in(earlier, ids)}


def still_firing(channel: Channel) -> Iterator[tuple[Payload, Payload]]:
    """For each incident that fires and that the channel has told: the payload that told it, and its event there."""
    return _notified_of(channel.pk, Incident.objects.filter(status=IncidentStatus.FIRING))


def fires_again(delivery: Delivery) -> Iterator[tuple[Payload, Payload]]:
    """Of what `delivery` ends: as `still_firing`, newer incidents of the same subjects. Two queries."""
    ended = DeliveryEvent.objects.filter(delivery=delivery, event__kind=IncidentEventKind.RESOLVED)
    again = Incident.objects.filter(
        status=IncidentStatus.FIRING, subject_key__in=ended.values("event__incident__subject_key")
    )
    return _notified_of(delivery.channel_id, again)


def _notified_of(channel_id: int, incidents: QuerySet[Incident]) -> Iterator[tuple[Payload, Payload]]:
    ids = {str(pk) for pk in incidents.values_list("pk", flat=True)}
    deliveries = _deliveries(channel_id, incidents.values("pk")).filter(status=DeliveryStatus.SENT) if ids else ()
    for delivery, event in _in(deliveries, ids):
        yield delivery.payload, event


def _deliveries(channel_id: int, incidents: QuerySet[Any, Any]) -> QuerySet[Delivery]:
    telling = DeliveryEvent.objects.filter(
        channel=channel_id, event__kind=IncidentEventKind.FIRING, event__incident__in=incidents
    )
    return Delivery.objects.filter(pk__in=telling.values("delivery")).order_by("number")


def _in(deliveries: Iterable[Delivery], ids: set[str]) -> Iterator[tuple[Delivery, Payload]]:
    """Their events that tell that one of `ids` fires."""
    for delivery in deliveries:
        for event in delivery.payload["events"]:
            if event["kind"] == IncidentEventKind.FIRING and event["incident"]["id"] in ids:
                yield delivery, event
