"""When a broker answered, when it was asked in vain, and who answered in its place, by the rows of readings."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from consumers.models import Reading
from consumers.vocabulary.reasons import PollProblem, reasons_in

# Why a broker was not asked.
PAUSES = (PollProblem.NOT_ASKED_UNTIL, PollProblem.NOT_ASKED_AFTER_FAILURES)


@dataclass
class BrokerReadings:
    """Of one cluster, oldest first: the time of each reading, and its entries by the name of the broker."""

    rows: list[tuple[datetime, Mapping[str, Mapping[str, Any]]]] = field(default_factory=list)

    def unread(self, broker: str, since: datetime, at: datetime) -> list[datetime]:
        """The readings in between that did not get the broker's answer."""
        return [
            taken_at
            for taken_at, brokers in self.rows
            if since < taken_at < at and not brokers.get(broker, {}).get("read")
        ]

    def last_asked(self, broker: str, unread: Sequence[datetime]) -> datetime:
        """The last of these in which it was asked: one that failed again and again is not asked in each reading."""
        entries = dict(self.rows)
        errors = [entries[at].get(broker, {}).get("error") for at in unread]
        asked = [at for number, at in enumerate(unread) if not number or not _is_pause(errors[number - 1 : number + 1])]
        return asked[-1]

    def before(self, at: datetime, since: datetime) -> datetime:
        """The reading before."""
        return max((one for one, _ in self.rows if since <= one < at), default=since)

    def slave(self, broker: str, since: datetime, at: datetime) -> str | None:
        """That answered in its master's place before, or in between."""
        found = (brokers.get(broker, {}).get("read_from") for taken_at, brokers in self.rows if since <= taken_at <= at)
        return next((slave for slave in found if slave is not None), None)


def broker_readings(clusters: Collection[int], since: datetime, until: datetime) -> Mapping[int, BrokerReadings]:
    """In [since, until], by cluster."""
    found: dict[int, BrokerReadings] = defaultdict(BrokerReadings)
    rows = Reading.objects.filter(cluster__in=clusters, taken_at__gte=since, taken_at__lte=until)
    for cluster, at, brokers in rows.order_by("taken_at").values_list("cluster_id", "taken_at", "brokers"):
        found[cluster].rows.append((at, {one["name"]: one for one in brokers}))
    return found


def _is_pause(errors: Sequence[str | None]) -> bool:
    """The second of two readings in a row only repeats until when the broker is not asked."""
    before, now = errors
    return (
        now is not None
        and now == before
        and any(isinstance(one, dict) and one["code"] in PAUSES for one in reasons_in(now))
    )
