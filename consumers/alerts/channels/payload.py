"""The payload of a delivery: the same for every kind of channel, made at evaluation and never changed."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from consumers.models import (
    AlertRule,
    Channel,
    Delivery,
    DeliveryEvent,
    DeliveryStatus,
    Incident,
    IncidentEvent,
    IncidentEventKind,
    IncidentStatus,
)
from consumers.words.reasons import stored_words

VERSION = 1
Payload = dict[str, Any]


def payload_of(
    delivery_id: UUID,
    number: int,
    channel: Channel,
    rule: AlertRule | None,
    events: Sequence[IncidentEvent],
    *,
    is_test: bool = False,
) -> Payload:
    """The payload of `events` (at least one; firing or resolved) of incidents of one rule. Each event has its incident
    loaded.

    `rule` is None where the rule was removed. Unknown values are None; docs/channels.md describes every field.
    """
    return {
        "version": VERSION,
        "delivery": str(delivery_id),
        "number": number,
        "channel": channel.name,
        "is_test": is_test,
        "rule": _rule(rule, events[0].incident),
        "events": [_event(event) for event in events],
    }


def _rule(rule: AlertRule | None, incident: Incident) -> Payload:
    return {
        "name": incident.rule_name,
        "severity": rule.severity if rule else incident.severity,
        "measure": incident.measure,
        "note": rule.note if rule else "",
        "runbook_url": rule.runbook_url if rule else "",
    }


def _event(event: IncidentEvent) -> Payload:
    return {
        "id": event.pk,
        "sequence": event.sequence,
        "kind": event.kind,
        "at": event.at.isoformat(),
        "sentence": stored_words(event.sentence),
        "incident": _incident(event.incident),
    }


def _incident(incident: Incident) -> Payload:
    # The row retains the newest known value; a message would report it as the current one.
    is_known = incident.unknown_since is None
    return {
        "id": str(incident.pk),
        "status": incident.status,
        "severity": incident.severity,
        "subject": {
            "kind": incident.subject_kind,
            "cluster": incident.cluster_name,
            "broker": incident.broker_name,
            "group": incident.group_name,
            "topic": incident.topic_name,
        },
        "started_at": incident.started_at.isoformat(),
        "fired_at": _iso_text(incident.fired_at),
        "resolved_at": _iso_text(incident.resolved_at),
        "ending": incident.ending,
        "value": incident.value if is_known else None,
        "threshold": incident.threshold,
        "state": incident.state if is_known else None,
        "evidence": stored_words(incident.evidence),
        "unknown_since": _iso_text(incident.unknown_since),
        "unknown_reason": stored_words(incident.unknown_reason),
        "groups_count": incident.groups_count,
        "groups": incident.group_names,
        "owner": incident.owner,
        "runbook_url": incident.runbook_url,
        "note": incident.note,
        "labels": incident.labels,
        "url": page_of(incident),
    }


def page_of(incident: Incident) -> str | None:
    """The URL of the incident's page. None where the site's own address is not configured."""
    if not settings.CONSUMERSCOPE_URL:
        return None
    return f"{settings.CONSUMERSCOPE_URL}/alerts/incidents/{incident.pk}/"


def _iso_text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


# The first messages of a channel about each incident.


def notified_before(delivery: Delivery) -> dict[str, Delivery]:
    """By the incident's id: the channel's earlier delivery that reported the incident as firing. One query."""
    incidents = DeliveryEvent.objects.filter(delivery=delivery).values("event__incident")
    ids = {event["incident"]["id"] for event in delivery.payload["events"]}
    earlier = _deliveries(delivery.channel_id, incidents).filter(number__lt=delivery.number)
    return {event["incident"]["id"]: earlier_one for earlier_one, event in _in(earlier, ids)}


def still_firing(channel: Channel) -> Iterator[tuple[Payload, Payload]]:
    """For each firing incident that the channel has reported: the payload that reported it, and its event in that
    payload.
    """
    return _notified_of(channel.pk, Incident.objects.filter(status=IncidentStatus.FIRING))


def fires_again(delivery: Delivery) -> Iterator[tuple[Payload, Payload]]:
    """Newer incidents of the subjects that `delivery` resolves, in the form of `still_firing`. Two queries."""
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
    """The events in it that report one of `ids` as firing."""
    for delivery in deliveries:
        for event in delivery.payload["events"]:
            if event["kind"] == IncidentEventKind.FIRING and event["incident"]["id"] in ids:
                yield delivery, event
