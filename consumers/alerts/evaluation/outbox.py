"""Which changes are told to whom: deliveries that wait, written in the transaction of the changes themselves.

One message for each rule and channel holds all changes of one evaluation.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from uuid import uuid4

from consumers.alerts.channels.numbers import next_number
from consumers.alerts.channels.payload import payload_of
from consumers.models import (
    Channel,
    Delivery,
    DeliveryEvent,
    DeliveryStatus,
    IncidentEvent,
    IncidentEventKind,
    Severity,
)

from .changes import Changes
from .owed import has_lost, owed_ends
from .told import left_to_tell, told_channels

WORST_FIRST = {severity.value: number for number, severity in enumerate(Severity)}
WAS_OFF = "The channel was switched off when it ended."
# Changes of one rule: its row's key, and its name, as a rule that was removed has no other.
Messages = dict[tuple[int | None, str], list[IncidentEvent]]


def tell(changes: Changes, now: datetime) -> int:
    """Writes the deliveries; how many are to go. The events are written already.

    Each channel is told of what fires and what it takes, as soon as both are so: also where it fired earlier. It is
    told of the end of what it was told of, also where that ended earlier.
    """
    channels = list(Channel.objects.order_by("pk").prefetch_related("rules").annotate(has_lost=has_lost()))
    resolved = [event for event in changes.events if event.kind == IncidentEventKind.RESOLVED]
    told = told_channels(event.incident for event in resolved)
    untold = left_to_tell(changes, [channel for channel in channels if channel.enabled])
    owed = owed_ends([one for one in channels if one.has_lost and one.enabled and one.tells_resolved])
    to_go = 0
    for channel in channels:
        events = [*untold.get(channel.pk, ()), *owed.get(channel.pk, ())]
        if channel.tells_resolved:
            events += [event for event in resolved if channel.pk in told[event.incident_id]]
        written = _write(channel, _by_rule(events), now)
        to_go += written if channel.enabled else 0
    return to_go


def _by_rule(events: Iterable[IncidentEvent]) -> Messages:
    messages: Messages = defaultdict(list)
    for event in sorted(events, key=_place):
        messages[event.incident.rule_id, event.incident.rule_name].append(event)
    return messages


def _place(event: IncidentEvent) -> tuple[float, int, str]:
    """What fires first, the worst of it first: a text names only some. Of ends the oldest first."""
    incident = event.incident
    ended = event.at.timestamp() if event.kind == IncidentEventKind.RESOLVED else 0.0
    return ended, WORST_FIRST[incident.severity], incident.subject_key


def _write(channel: Channel, messages: Messages, now: datetime) -> int:
    """Ends are written for one that is switched off, too: it is told of them once it is on again."""
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
            status=DeliveryStatus.WAITING if channel.enabled else DeliveryStatus.DROPPED,
            created_at=now,
            next_try_at=now if channel.enabled else None,
            error=None if channel.enabled else WAS_OFF,
        )
        deliveries.append(delivery)
        tells += [DeliveryEvent(delivery=delivery, channel=channel, event=event) for event in events]
    Delivery.objects.bulk_create(deliveries)
    DeliveryEvent.objects.bulk_create(tells)
    return len(deliveries)
