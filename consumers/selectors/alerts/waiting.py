"""Messages that wait to be sent, and since when nothing was taken, by channel."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Exists, OuterRef, Subquery
from django.db.models.functions import Coalesce

from consumers.alerts.channels.queue import TO_GO
from consumers.models import Channel, Delivery, DeliveryStatus


@dataclass(frozen=True)
class Waiting:
    """`since`: since when the oldest of them waits; null where none does. `failing`: for how long nothing was taken that
    was tried; zero where the newest try was, null where none was made yet.
    """

    channel: str
    messages: int
    since: datetime | None
    failing: timedelta | None


def waiting_messages(now: datetime) -> list[Waiting]:
    """Of every channel, also where none waits. One query."""
    of_it = Delivery.objects.filter(channel=OuterRef("pk"))
    waits = of_it.filter(status__in=TO_GO)
    count = waits.order_by().values("channel").annotate(count=Count("pk")).values("count")
    rows = Channel.objects.order_by("name").annotate(
        messages=Coalesce(Subquery(count), 0),
        since=Subquery(waits.order_by("number").values("created_at")[:1]),
        was_taken=Exists(of_it.filter(status=DeliveryStatus.SENT)),
    )
    found = rows.values_list("name", "messages", "since", "failing_since", "was_taken")
    return [Waiting(name, messages, since, _failing(*more, now)) for name, messages, since, *more in found]


def _failing(since: datetime | None, was_taken: bool, now: datetime) -> timedelta | None:
    if since is not None:
        return max(now - since, timedelta())
    return timedelta() if was_taken else None
