"""What is known of brokers where retries are concerned, whatever the group: loaded once for all groups of a cluster."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from consumers.models import Broker
from consumers.selectors.clusters.brokers import MASTER, broker_ages
from consumers.selectors.limits import Limits, limits

from .facts import Permission


@dataclass(frozen=True, kw_only=True)
class KnownBroker:
    """`unread`: why nothing that it says is known; None where its newest reading is good and young enough."""

    id: int
    cluster_id: int
    name: str
    address: str
    has_master: bool | None
    permission: Permission
    routed: Permission
    unread: str | None
    read_at: datetime | None


def known_brokers(clusters: Iterable[int] | None, now: datetime) -> dict[int, list[KnownBroker]]:
    """By the cluster's id, in the order of their names. Three queries."""
    ages = broker_ages(clusters)
    bounds = limits()
    unread = {one.id: one.unread_reason(now, bounds) for age in ages.values() for one in age.brokers}
    found: dict[int, list[KnownBroker]] = {cluster: [] for cluster in ages}
    for row in Broker.objects.filter(cluster__in=ages, broker_id=MASTER).order_by("name"):
        found[row.cluster_id].append(_known(row, unread.get(row.pk), now, bounds))
    return found


def _known(row: Broker, unread: str | None, now: datetime, bounds: Limits) -> KnownBroker:
    return KnownBroker(
        id=row.pk,
        cluster_id=row.cluster_id,
        name=row.name,
        address=row.address,
        # A slave that answers for it is proof that its master is gone; one that nobody reaches is unknown.
        has_master=False if row.read_from is not None else None if unread is not None else True,
        permission=_permission(row.permission, row.config_at, row.config_error, row.name, now, bounds),
        routed=_permission(row.routed_permission, row.routed_at, row.routed_error, row.name, now, bounds),
        unread=unread,
        read_at=row.last_read_at,
    )


def _permission(
    value: int | None, at: datetime | None, error: str | None, broker: str, now: datetime, bounds: Limits
) -> Permission:
    """A missed answer or two change nothing."""
    if value is None or at is None:
        return Permission(unknown=error or f"{broker} has not said yet what it allows")
    if now - at > timedelta(seconds=3 * settings.POLL_STORE_CONFIG_SECONDS + bounds.late_seconds):
        seconds = (now - at).total_seconds()
        return Permission(
            value=value, at=at, unknown=error or f"what {broker} allows was last read {seconds:.0f} s ago"
        )
    return Permission(value=value, at=at)
