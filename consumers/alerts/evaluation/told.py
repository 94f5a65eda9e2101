"""Which channels were told that an incident fires, and which are to be told of it still."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from consumers.alerts.channels.takes import Taking
from consumers.models import (
    Channel,
    DeliveryEvent,
    DeliveryStatus,
    Incident,
    IncidentEvent,
    IncidentEventKind,
    IncidentStatus,
)

from .changes import Changes

# A database takes only so many values in one statement.
AT_ONCE = 500
FIRING = IncidentEventKind.FIRING
NOWHERE = Q(delivery__status=DeliveryStatus.DROPPED)
# Nobody was there until it was given up. What a receiver refused is not offered to it again.
IN_VAIN = Q(delivery__status=DeliveryStatus.FAILED, delivery__refusals=0)
Told = Mapping[UUID, set[int]]  # ids of channels by the id of an incident


def told_channels(incidents: Iterable[Incident]) -> Told:
    """Those that were told of the firing of each, or are about to be, or may have been. One query."""
    return _told(NOWHERE, event__incident__in=list(incidents))


def left_to_tell(changes: Changes, channels: Sequence[Channel]) -> Mapping[int, list[IncidentEvent]]:
    """By the id of each channel: the firings that it takes and was not told of. One query, and few for late ones."""
    left: dict[int, list[IncidentEvent]] = {channel.pk: [] for channel in channels}
    if not changes.audible:
        return left
    told, now = _told(NOWHERE | IN_VAIN, event__incident__status=IncidentStatus.FIRING), _fired_now(changes)
    for channel in channels:
        taking = Taking.of(channel)
        untold = [one for one in changes.audible if channel.pk not in told[one.pk] and taking.takes(one)]
        left[channel.pk] = [now[one.pk] for one in untold if one.pk in now]
        left[channel.pk] += _fired_before(channel, {one.pk: one for one in untold if one.pk not in now})
    return left


def _told(not_by: Q, **of_events: Any) -> Told:
    """`not_by`: of the rows of DeliveryEvent, those whose message does not count."""
    rows = DeliveryEvent.objects.filter(~not_by, event__kind=FIRING, **of_events).values_list(
        "event__incident", "channel"
    )
    told: dict[UUID, set[int]] = defaultdict(set)
    for incident, channel in rows:
        told[incident].add(channel)
    return told


def _fired_now(changes: Changes) -> dict[UUID, IncidentEvent]:
    return {event.incident_id: event for event in changes.events if event.kind == FIRING}


def _fired_before(channel: Channel, incidents: Mapping[UUID, Incident]) -> list[IncidentEvent]:
    """Their firings, with the incidents as they are now. One that began by a rule that was removed meanwhile has none:
    it was not written.
    """
    ids, events = list(incidents), list[IncidentEvent]()
    for begin in range(0, len(ids), AT_ONCE):
        some = list(IncidentEvent.objects.filter(incident__in=ids[begin : begin + AT_ONCE], kind=FIRING))
        # A change goes to a channel in one message only, and these told it to nobody.
        DeliveryEvent.objects.filter(NOWHERE | IN_VAIN, channel=channel, event__in=some).delete()
        events += some
    for event in events:
        event.incident = incidents[event.incident_id]
    return events
