"""How fresh what the page shows is, in one phrase for the top bar, with the brokers behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from consumers.selectors.brokers import MASTER
from consumers.selectors.cluster_rows import ClusterRow
from consumers.selectors.cluster_rows import Freshness as Level
from dashboard.wording.times import ago

WORST_FIRST = [Level.SILENT, Level.LATE, Level.FRESH]


@dataclass(frozen=True)
class BrokerLine:
    cluster: str
    broker: str
    read_at: datetime | None
    problem: str


@dataclass(frozen=True)
class Freshness:
    level: Level
    text: str
    lines: list[BrokerLine]


def freshness_of(clusters: Sequence[ClusterRow], now: datetime) -> Freshness:
    """The oldest of the clusters' newest readings stands for all, and the worst cluster gives the level."""
    if not clusters:
        return Freshness(Level.SILENT, _("no cluster is registered"), [])
    read = [row.last_reading.taken_at if row.last_reading else None for row in clusters]
    known = [at for at in read if at is not None]
    age = _("read %s") % ago(min(known), now) if len(known) == len(read) else _("not read yet")
    brokers = _("%(read)s of %(listed)s brokers") % {
        "read": sum(row.brokers_read for row in clusters),
        "listed": sum(row.brokers_listed for row in clusters),
    }
    level = min((row.freshness for row in clusters), key=WORST_FIRST.index)
    return Freshness(level, f"{age} · {brokers}", [line for row in clusters for line in _lines(row)])


def _lines(cluster: ClusterRow) -> list[BrokerLine]:
    return [
        BrokerLine(cluster.name, broker.name, broker.last_read_at, broker.error or broker.note or "")
        for broker in cluster.brokers
        if broker.id == MASTER
    ]
