"""Channels that do not deliver: whatever fires is told to nobody through them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from consumers.models import Channel
from consumers.models.channels import SEVERAL

from .waiting import NONE_WAIT, waits_by_channel

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
            return _("no worker sends what waits: see that a worker of the queue alerts runs")
        return self.why


def untold(now: datetime) -> list[Untold]:
    """In order of their names, of those that are switched on. Two queries, a third where messages wait."""
    waits = waits_by_channel()
    rows = Channel.objects.filter(enabled=True).order_by("name").defer("sealed")
    found = [_of(row, waits.get(row.pk, NONE_WAIT), now) for row in rows]
    return [one for one in found if one is not None]


def _of(row: Channel, waiting: tuple[int, datetime | None], now: datetime) -> Untold | None:
    messages, oldest = waiting
    fails = row.failing_since is not None and (row.failures >= SEVERAL or now - row.failing_since >= LATE)
    waits = oldest is not None and now - oldest >= LATE
    since = row.failing_since if fails else oldest if waits else None
    return None if since is None else Untold(row.pk, row.name, since, messages, row.failing_why)
