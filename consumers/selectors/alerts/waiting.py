"""Messages that wait to be sent, by channel."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q

from consumers.models import Channel, DeliveryStatus


@dataclass(frozen=True)
class Waiting:
    """`since`: since when the oldest of them waits; null where none does."""

    channel: str
    messages: int
    since: datetime | None


def waiting_messages() -> list[Waiting]:
    """Of every channel, also where none waits. One query."""
    waits = Q(deliveries__status__in=(DeliveryStatus.WAITING, DeliveryStatus.SENDING))
    rows = Channel.objects.order_by("name").annotate(
        messages=Count("deliveries", filter=waits), since=Min("deliveries__created_at", filter=waits)
    )
    return [Waiting(*row) for row in rows.values_list("name", "messages", "since")]
