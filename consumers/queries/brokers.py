"""Which brokers are read and which are not, loaded once per request: every overlay begins here."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import OuterRef, Subquery
from django.utils.translation import gettext

from consumers.models import Broker, Cluster, Reading
from consumers.queries.limits import CLOCKS_DIFFER, Limits
from consumers.vocabulary.brokers import MASTER
from consumers.vocabulary.unknown import UnknownReason


@dataclass(frozen=True)
class BrokerAge:
    """What is known of the readings of one broker name. `read_from` is the slave that was read for its master."""

    id: int
    cluster_id: int
    name: str
    last_read_at: datetime | None
    failing_since: datetime | None
    error: str | None
    read_from: str | None = None

    def unread_reason(self, now: datetime, limits: Limits) -> str | None:
        """Why nothing on this broker is known; None while its newest reading is good and young enough."""
        if self.failing_since is not None:
            return gettext("%(name)s could not be read: %(error)s") % {
                "name": self.name,
                "error": self.error or gettext("no cause was recorded"),
            }
        if self.last_read_at is None:
            return gettext("%(name)s has not been read yet") % {"name": self.name}
        if self.last_read_at < limits.read_since(now):
            return gettext("%(name)s has not been read for more than %(late_seconds)s s") % {
                "name": self.name,
                "late_seconds": f"{limits.late_seconds:g}",
            }
        if self.last_read_at - now > CLOCKS_DIFFER:
            return gettext("%(name)s was read at a time in the future: a clock was set back since") % {
                "name": self.name
            }
        return None

    def unread_code(self, now: datetime, limits: Limits) -> UnknownReason | None:
        if self.unread_reason(now, limits) is None:
            return None
        if self.failing_since is not None:
            return UnknownReason.BROKER_UNREACHABLE
        return UnknownReason.BROKER_NEVER_READ if self.last_read_at is None else UnknownReason.BROKER_LATE

    def is_silent(self, now: datetime, limits: Limits) -> bool:
        """Unread for so long that what was evaluated of it says nothing about now."""
        if self.last_read_at is None or self.last_read_at - now > CLOCKS_DIFFER:
            return True
        return self.last_read_at < limits.known_since(now)


@dataclass(frozen=True)
class ClusterAge:
    id: int
    name: str
    newest_reading_at: datetime | None
    newest_error: str | None
    brokers: tuple[BrokerAge, ...]


def broker_ages(clusters: Iterable[int] | None = None) -> dict[int, ClusterAge]:
    """Every cluster with its brokers, by the cluster's id. Two queries."""
    newest = Reading.objects.filter(cluster=OuterRef("pk")).order_by("-taken_at")
    rows = Cluster.objects.annotate(
        newest_reading_at=Subquery(newest.values("taken_at")[:1]),
        newest_error=Subquery(newest.values("error")[:1]),
        newest_brokers=Subquery(newest.values("brokers")[:1]),
    )
    masters = Broker.objects.filter(broker_id=MASTER).order_by("name")
    if clusters is not None:
        rows, masters = rows.filter(pk__in=clusters), masters.filter(cluster__in=clusters)
    brokers: dict[int, list[Broker]] = {}
    # Before the readings: one that is recorded in between makes a broker late, and not what is old new.
    for broker in masters:
        brokers.setdefault(broker.cluster_id, []).append(broker)
    ages: dict[int, ClusterAge] = {}
    for row in rows:
        # Without a name server's answer a reading asks the brokers it knows; one that knows none has failed for all.
        failure = row.newest_error if not row.newest_brokers else None
        parts = tuple(_age(broker, row.newest_reading_at, failure) for broker in brokers.get(row.pk, ()))
        ages[row.pk] = ClusterAge(row.pk, row.name, row.newest_reading_at, row.newest_error, parts)
    return ages


def _age(broker: Broker, newest_reading_at: datetime | None, failure: str | None) -> BrokerAge:
    failing_since, error = broker.failing_since, broker.error
    if failure is not None and failing_since is None:
        failing_since, error = newest_reading_at, failure
    return BrokerAge(
        broker.pk, broker.cluster_id, broker.name, broker.last_read_at, failing_since, error, broker.read_from
    )
