"""When the offsets of each group last moved, as far as readings tell: written at most once a minute and group."""

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np

from consumers.models import Cluster, ConsumerGroup

from .snapshots import NULL, Columns
from .stamps import stamp

CONSUMER = 0
EVERY = timedelta(seconds=60)


@dataclass
class Moves:
    """`noted`: the `moved_at` of each group as it is stored, up to a minute behind what was seen."""

    noted: dict[int, datetime]

    @classmethod
    def of(cls, cluster: Cluster) -> "Moves":
        return cls({pk: at for pk, at in cluster.groups.values_list("pk", "moved_at") if at is not None})

    def note(self, before: Columns, after: Columns, now: datetime) -> None:
        seen = moved_groups(before, after)
        due = [pk for pk in seen if pk not in self.noted or now - self.noted[pk] >= EVERY]
        stamp(ConsumerGroup.objects.all(), due, moved_at=now)
        self.noted.update(dict.fromkeys(due, now))


def moved_groups(before: Columns, after: Columns) -> list[int]:
    """The groups of which an offset differs, or is there for the first time on a broker that was read before."""
    if not len(before.keys):
        return []
    at, stays = before.find(after.keys)
    committed = after.offsets[:, CONSUMER] != NULL
    moved = committed & stays & (before.offsets[at, CONSUMER] != after.offsets[:, CONSUMER])
    if not stays.all():
        # Everything on a broker is there for the first time when the broker is read for the first time.
        known = after.brokers.is_in(before.brokers.distinct()) & np.isin(after.groups, before.groups)
        moved |= committed & ~stays & known
    return np.unique(after.groups[moved]).tolist()
