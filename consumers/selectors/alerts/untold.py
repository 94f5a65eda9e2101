"""Channels that do not deliver: whatever fires is told to nobody through them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _

from consumers.alerts.channels.queue import TO_GO
from consumers.alerts.channels.standing import SEVERAL
from consumers.models import Channel, Delivery

# A receiver that is restarted is no trouble, and a worker that is busy with another channel neither.
LATE = timedelta(minutes=2)


@dataclass(frozen=True)
class Untold:
    """`why`: what became of the newest try; null where none was made, as no worker came. `messages`: so many wait."""

    channel: int
    name: str
    since: datetime
    messages: int
    why: str | None

    @property
    def sentence(self) -> str:
        if self.why is None:
            return _("no worker sends what waits: see that a general worker runs")
        return self.why


def untold(now: datetime) -> list[Untold]:
    """In order of their names, of those that are switched on. One query."""
    waits = Delivery.objects.filter(channel=OuterRef("pk"), status__in=TO_GO, is_test=False)
    count = waits.order_by().values("channel").annotate(count=Count("pk")).values("count")
    rows = Channel.objects.filter(enabled=True).annotate(
        messages=Coalesce(Subquery(count), 0), oldest=Subquery(waits.order_by("number").values("created_at")[:1])
    )
    found = [_of(row, now) for row in rows.order_by("name").defer("sealed")]
    return [one for one in found if one is not None]


def _of(row: Channel, now: datetime) -> Untold | None:
    fails = row.failing_since is not None and (row.failures >= SEVERAL or now - row.failing_since >= LATE)
    oldest: datetime | None = row.oldest  # type: ignore[attr-defined]
    waits = oldest is not None and now - oldest >= LATE
    since = row.failing_since if fails else oldest if waits else None
    if since is None:
        return None
    return Untold(row.pk, row.name, since, row.messages, row.failing_why)  # type: ignore[attr-defined]
