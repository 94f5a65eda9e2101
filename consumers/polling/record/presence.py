"""How often each group was without a member, by day: what tells a habit from a crash.

Counts are held back for ten minutes, because ten thousand groups must not cost ten thousand writes a reading. A process
that ends loses what it holds back: answers of ten minutes are then missing from both counts of a group.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from consumers.models import ConsumerGroup
from consumers.polling.reading import GroupMembers

from .ids import EntityIds

HELD_BACK = timedelta(minutes=10)
AT_ONCE = 1000
KEPT = timedelta(days=7)  # before today

Counts = dict[str, list[int]]  # day: full answers, those of them without a member


@dataclass
class Presence:
    """`held`: the counts that are not stored yet, by group, and when the first of them was made."""

    held: dict[int, tuple[datetime, Counts]] = field(default_factory=dict)

    def note(self, ids: EntityIds, answers: Iterable[GroupMembers], now: datetime) -> None:
        """Counts the full answers, and stores what was held back for long enough, the oldest first."""
        day = now.date().isoformat()
        for answer in answers:
            pk = ids.groups.get(answer.group)
            if pk is None or not answer.complete:
                continue
            _, counts = self.held.setdefault(pk, (now, {}))
            today = counts.setdefault(day, [0, 0])
            today[0] += 1
            today[1] += not answer.members
        due = sorted((since, pk) for pk, (since, _) in self.held.items() if now - since >= HELD_BACK)
        self._store([pk for _, pk in due[:AT_ONCE]], now)

    def _store(self, due: list[int], now: datetime) -> None:
        rows = list(ConsumerGroup.objects.filter(pk__in=due).only("presence"))
        for row in rows:
            row.presence = added(row.presence, self.held[row.pk][1], now)
        ConsumerGroup.objects.bulk_update(rows, ["presence"], batch_size=200)
        for pk in due:
            del self.held[pk]


def added(stored: Counts, counts: Counts, now: datetime) -> Counts:
    """Both together, without the days that nobody looks at any more."""
    first = (now - KEPT).date().isoformat()
    days = sorted(day for day in stored.keys() | counts.keys() if day >= first)
    none = [0, 0]
    return {day: [a + b for a, b in zip(stored.get(day, none), counts.get(day, none), strict=True)] for day in days}
