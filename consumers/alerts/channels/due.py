"""Channels that a worker should look at: what beat hands over, and when who has worked comes again."""

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q

from consumers.models import Channel, ChannelKind, Delivery, Incident, IncidentStatus

from .alertmanager import REPEAT_SECONDS
from .queue import TO_GO

EVERY = timedelta(seconds=REPEAT_SECONDS)


def channels_due(now: datetime) -> list[int]:
    """Ids of channels with a message that may be sent or tried again, or with something to repeat. Two queries.

    Whether another worker has one is found out by whoever comes to it.
    """
    waiting = Delivery.objects.filter(channel=OuterRef("pk"), status__in=TO_GO)
    due = Q(Exists(waiting.filter(Q(next_try_at=None) | Q(next_try_at__lte=now))))
    if _something_fires():
        long_ago = Q(repeated_at=None) | Q(repeated_at__lte=now - EVERY)
        due |= Q(kind=ChannelKind.ALERTMANAGER, enabled=True) & long_ago
    return list(Channel.objects.filter(due).order_by("pk").values_list("pk", flat=True))


def comes_again(channel_id: int, now: datetime) -> datetime | None:
    """When the next message of a channel may be sent, or what fires be repeated; None where nothing is to be done."""
    channel = Channel.objects.filter(pk=channel_id).first()
    if channel is None:
        return None
    to_go = Delivery.objects.filter(channel=channel, status__in=TO_GO).order_by("-is_test", "number")
    head = (to_go if channel.enabled else to_go.filter(is_test=True)).first()
    if head is not None:
        return head.next_try_at or now
    if channel.kind != ChannelKind.ALERTMANAGER or not channel.enabled or not _something_fires():
        return None
    return now if channel.repeated_at is None else channel.repeated_at + EVERY


def _something_fires() -> bool:
    return Incident.objects.filter(status=IncidentStatus.FIRING).exists()
