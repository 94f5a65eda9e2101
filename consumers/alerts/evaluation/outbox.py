"""Which changes are told to whom: deliveries that wait, written in the transaction of the changes themselves.

One message for each rule and channel holds all changes of one evaluation.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from uuid import UUID, uuid4

from consumers.alerts.channels.numbers import next_number
from consumers.alerts.channels.payload import payload_of
from consumers.alerts.channels.takes import takes
from consumers.models import (
    Channel,
    Delivery,
    DeliveryEvent,
    DeliveryStatus,
    Incident,
    IncidentEvent,
    IncidentEventKind,
    Severity,
)

from .changes import Changes

WORST_FIRST = {severity.value: number for number, severity in enumerate(Severity)}
# Changes of one rule: its row's key, and its name, as a rule that was removed has no other.
Messages = dict[tuple[int | None, str], list[IncidentEvent]]


def tell(changes: Changes, now: datetime) -> int:
    """Writes the deliveries; how many. The events are written already."""
    channels = list(Channel.objects.filter(enabled=True).order_by("pk").prefetch_related("rules"))
    firing = [event for event in changes.events if event.kind == IncidentEventKind.FIRING]
    firing = [event for event in firing if event.incident.silence_id is None] + _left_untold(changes.unsilenced)
    resolved = [event for event in changes.events if event.kind == IncidentEventKind.RESOLVED]
    if not channels or not (firing or resolved):
        return 0
    told = _told(event.incident for event in resolved)
    written = 0
    for channel in channels:
        events = [event for event in firing if takes(channel, event.incident)]
        if channel.tells_resolved:
            events += [event for event in resolved if channel.pk in told[event.incident_id]]
        written += _write(channel, _by_rule(events), now)
    return written


def _left_untold(unsilenced: Sequence[Incident]) -> list[IncidentEvent]:
    """Of those that fired while they were silenced. An incident fires once."""
    at_hand = {incident.pk: incident for incident in unsilenced}
    events = list(IncidentEvent.objects.filter(incident__in=at_hand, kind=IncidentEventKind.FIRING, told_by=None))
    for event in events:
        event.incident = at_hand[event.incident_id]
    return events


def _told(incidents: Iterable[Incident]) -> dict[UUID, set[int]]:
    """Channels that were told of the firing, or are about to be. What was given up may have arrived all the same."""
    firing = DeliveryEvent.objects.filter(event__kind=IncidentEventKind.FIRING, event__incident__in=list(incidents))
    rows = firing.exclude(delivery__status=DeliveryStatus.DROPPED).values_list("event__incident", "channel")
    told: dict[UUID, set[int]] = defaultdict(set)
    for incident, channel in rows:
        told[incident].add(channel)
    return told


def _by_rule(events: Iterable[IncidentEvent]) -> Messages:
    messages: Messages = defaultdict(list)
    for event in sorted(events, key=_place):
        messages[event.incident.rule_id, event.incident.rule_name].append(event)
    return messages


def _place(event: IncidentEvent) -> tuple[bool, int, str]:
    """What fires first, the worst of it first: a text names only some."""
    incident = event.incident
    return event.kind == IncidentEventKind.RESOLVED, WORST_FIRST[incident.severity], incident.subject_key


def _write(channel: Channel, messages: Messages, now: datetime) -> int:
    if not messages:
        return 0
    first, deliveries, tells = next_number(channel), [], []
    for number, events in enumerate(messages.values(), first):
        key, rule = uuid4(), events[0].incident.rule
        delivery = Delivery(
            id=key,
            channel=channel,
            number=number,
            payload=payload_of(key, number, channel, rule, events),
            status=DeliveryStatus.WAITING,
            created_at=now,
            next_try_at=now,
        )
        deliveries.append(delivery)
        tells += [DeliveryEvent(delivery=delivery, channel=channel, event=event) for event in events]
    Delivery.objects.bulk_create(deliveries)
    DeliveryEvent.objects.bulk_create(tells)
    return len(deliveries)
