"""Messages that wait to be sent, and since when nothing was taken, by channel."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import Count, Exists, Min, OuterRef, Q

from consumers.models import Channel, Delivery, DeliveryStatus
from consumers.models.channels import TO_GO

NONE_WAIT: tuple[int, datetime | None] = (0, None)


@dataclass(frozen=True)
class Waiting:
    """`since`: since when the oldest of them waits; null where none does. `failing`: for how long nothing was taken
    that was tried; zero where the newest try was, null where none was made yet.
    """

    channel: str
    messages: int
    since: datetime | None
    failing: timedelta | None


def waiting_messages(now: datetime) -> list[Waiting]:
    """Of every channel, also where none waits. Two queries, a third where some wait."""
    was_taken = Exists(Delivery.objects.filter(channel=OuterRef("pk"), status=DeliveryStatus.SENT))
    rows = Channel.objects.order_by("name").annotate(was_taken=was_taken)
    waits, found = waits_by_channel(), []
    for key, name, since, taken in rows.values_list("pk", "name", "failing_since", "was_taken"):
        messages, oldest = waits.get(key, NONE_WAIT)
        found.append(Waiting(name, messages, oldest, _failing(since, taken, now)))
    return found


def waits_by_channel() -> dict[int, tuple[int, datetime | None]]:
    """How many messages are to go, and when the first of them was made; of channels where some are.

    The first are looked up by their numbers: what comes behind a payload is slow to look at in each.
    """
    rows = Delivery.objects.filter(status__in=TO_GO).order_by().values_list("channel")
    found = {channel: (count, first) for channel, count, first in rows.annotate(Count("number"), Min("number"))}
    if not found:
        return {}
    firsts = [Q(channel=channel, number=number) for channel, (_, number) in found.items()]
    made = dict(Delivery.objects.filter(reduce(or_, firsts)).values_list("channel", "created_at"))
    return {channel: (count, made[channel]) for channel, (count, _) in found.items() if channel in made}


def _failing(since: datetime | None, was_taken: bool, now: datetime) -> timedelta | None:
    if since is not None:
        return max(now - since, timedelta())
    return timedelta() if was_taken else None
