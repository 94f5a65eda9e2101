"""Ends that are told late: a channel was told that something fires, and the end never got there.

An end is lost where its channel is switched off, or where nobody was there until it was given up. Each leaves its row:
what is owed is found among the messages that were lost, and not among all that ever ended.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from consumers.models import Channel, Delivery, DeliveryEvent, DeliveryStatus, IncidentEvent, IncidentEventKind

from .told import AT_ONCE, FIRING, IN_VAIN, NOWHERE

# The same as NOWHERE and IN_VAIN, of messages.
LOST = Q(status=DeliveryStatus.DROPPED) | Q(status=DeliveryStatus.FAILED, refusals=0)


def has_lost() -> Exists:
    """Of channels: whether a message of theirs was lost."""
    return Exists(_lost().filter(channel=OuterRef("pk")))


def owed_ends(channels: Sequence[Channel]) -> Mapping[int, list[IncidentEvent]]:
    """By the id of each of `channels`. Queries for each 500 messages that they lost, none where there are no channels.

    Whoever never heard of the beginning is not told of the end.
    """
    owed: dict[int, list[IncidentEvent]] = defaultdict(list)
    rows = [row for deliveries in _lost_by(channels) for row in _ends_in(deliveries)]
    for row in rows:
        owed[row.channel_id].append(row.event)
    # A change goes to a channel in one message only, and these told it to nobody.
    for begin in range(0, len(rows), AT_ONCE):
        DeliveryEvent.objects.filter(pk__in=[row.pk for row in rows[begin : begin + AT_ONCE]]).delete()
    return owed


def _lost() -> QuerySet[Delivery]:
    # Both lists are there for an index, which OR alone and a bare truth would pass by.
    ended = (DeliveryStatus.DROPPED, DeliveryStatus.FAILED)
    return Delivery.objects.filter(LOST, status__in=ended, is_test__in=(False,))


def _lost_by(channels: Sequence[Channel]) -> Iterator[list[UUID]]:
    if channels:
        keys = list(_lost().filter(channel__in=channels).order_by().values_list("pk", flat=True))
        for begin in range(0, len(keys), AT_ONCE):
            yield keys[begin : begin + AT_ONCE]


def _ends_in(deliveries: list[UUID]) -> QuerySet[DeliveryEvent]:
    begun = DeliveryEvent.objects.filter(
        ~(NOWHERE | IN_VAIN),
        channel=OuterRef("channel"),
        event__kind=FIRING,
        event__incident=OuterRef("event__incident"),
    )
    ends = DeliveryEvent.objects.filter(Exists(begun), delivery__in=deliveries, event__kind=IncidentEventKind.RESOLVED)
    return ends.select_related("event__incident__rule")
