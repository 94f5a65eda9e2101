"""The lag of one group at this moment, as its page says it, and when it was read."""

from datetime import datetime
from typing import NamedTuple

from django.db.models import F

from .overlay import Overlay


class LiveLag(NamedTuple):
    at: datetime
    lag_messages: int


def live_lag(cluster: str, group: str, now: datetime) -> LiveLag | None:
    """Null where it is not known. Three queries."""
    found = Overlay.at(now).groups.filter(cluster__name=cluster, name=group)
    row = (
        found.annotate(of_lag=F("shown_lag_messages"), of_at=F("shown_taken_at")).values_list("of_at", "of_lag").first()
    )
    return None if row is None or None in row else LiveLag(*row)
