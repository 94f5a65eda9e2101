"""For how long an answer of a client stands when no other follows. The poll asks and records by the same."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from consumers.models import ConsumerGroup
from consumers.selectors.limits import limits

LEAST_SECONDS = 120.0


@dataclass(frozen=True)
class Patience:
    """`unchanged`: from when to when brokers told of no change in the group: not every client is asked each time then.

    `silent`: clients that did not answer when they were asked last.
    """

    length: timedelta
    unchanged: tuple[datetime, datetime] | None = None
    silent: frozenset[str] = frozenset()

    def until(self, client_id: str, told: datetime) -> datetime:
        if self.unchanged is not None and client_id not in self.silent and told >= self.unchanged[0]:
            told = max(told, self.unchanged[1])
        return told + self.length


def patience_of(group: ConsumerGroup, silent: frozenset[str] = frozenset()) -> Patience:
    changed_at, asked_at = group.members_changed_at, group.membership_at
    unchanged = (changed_at, asked_at) if changed_at is not None and asked_at is not None else None
    return Patience(timedelta(seconds=max(limits().late_seconds, LEAST_SECONDS)), unchanged, silent)
