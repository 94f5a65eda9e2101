"""Channels that a worker should look at: what beat hands over, and when who has worked comes again."""

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q

from consumers.alerts.channels.kinds.alertmanager import REPEAT_SECONDS
from consumers.models import Channel, ChannelKind, Delivery, Incident, IncidentStatus
from consumers.models.channels import TO_GO

from .back_off import LONGEST_HOLD, is_held
from .queue import is_due, is_ready, next_moment

EVERY = timedelta(seconds=REPEAT_SECONDS)


def channels_due(now: datetime) -> list[int]:
    """Ids of channels with a message that may be sent or tried again, or with something to repeat. Two queries.

    Whether another worker has one, and whether what waits there waits for an earlier message, is found out by whoever
    comes to it.
    """
    waiting = Delivery.objects.filter(channel=OuterRef("pk"), status__in=TO_GO)
    held = Q(held_until__gt=now, held_until__lte=now + LONGEST_HOLD)
    due = Q(Exists(waiting.filter(is_due(now)))) & ~held | Q(Exists(waiting.filter(is_test=True)))
    if _something_fires():
        long_ago = Q(repeated_at=None) | Q(repeated_at__lte=now - EVERY)
        due |= Q(kind=ChannelKind.ALERTMANAGER, enabled=True) & long_ago & ~held
    return list(Channel.objects.filter(due).order_by("pk").values_list("pk", flat=True))


def comes_again(channel_id: int, now: datetime) -> datetime | None:
    """When the next message of a channel may be sent, or what fires be repeated; None where nothing is to be done."""
    channel = Channel.objects.filter(pk=channel_id).first()
    if channel is None:
        return None
    if is_ready(channel, now):
        return now
    moments = [next_moment(channel, now), _repeated_again(channel, now)]
    return min((moment for moment in moments if moment is not None), default=None)


def _repeated_again(channel: Channel, now: datetime) -> datetime | None:
    if channel.kind != ChannelKind.ALERTMANAGER or not channel.enabled or not _something_fires():
        return None
    if is_held(channel.held_until, now):
        return channel.held_until
    return now if channel.repeated_at is None else channel.repeated_at + EVERY


def _something_fires() -> bool:
    return Incident.objects.filter(status=IncidentStatus.FIRING).exists()
