"""The delay levels of every broker of a cluster, from rows, for the ladder of a group and for the clusters page."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import OuterRef, Subquery

from consumers.models import Broker, Cluster, DelayLevel, Reading
from consumers.selectors.clusters.brokers import MASTER, ClusterAge, broker_ages
from consumers.selectors.limits import limits

from .broker_levels import BrokerLevels, broker_levels

NO_CLOCK = (None, None)


def cluster_levels(clusters: Iterable[int], now: datetime) -> dict[int, list[BrokerLevels]]:
    """By the cluster's id, its brokers by name. Five queries, however many clusters there are."""
    ids = list(clusters)
    return levels_of(broker_ages(ids), now)


def levels_by_name(now: datetime) -> dict[str, list[BrokerLevels]]:
    """Of every cluster, by its name. Five queries."""
    ages = broker_ages()
    found = levels_of(ages, now)
    return {age.name: found[pk] for pk, age in ages.items()}


def levels_of(ages: dict[int, ClusterAge], now: datetime) -> dict[int, list[BrokerLevels]]:
    """The same where the ages are known already. Three queries."""
    limit, clocks = limits(), _clocks(ages)
    rows: defaultdict[tuple[int, str], list[DelayLevel]] = defaultdict(list)
    for row in DelayLevel.objects.filter(cluster__in=ages).order_by("level"):
        rows[row.cluster_id, row.broker].append(row)
    masters = {row.pk: row for row in Broker.objects.filter(cluster__in=ages, broker_id=MASTER)}
    return {
        pk: [
            broker_levels(masters[age.id], age, rows[pk, age.name], clocks[pk].get(age.name, NO_CLOCK), now, limit)
            for age in cluster.brokers
            if age.id in masters
        ]
        for pk, cluster in ages.items()
    }


def _clocks(ages: Iterable[int]) -> dict[int, dict[str, Sequence[float | None]]]:
    """By cluster and broker, the bounds that its newest reading noted."""
    newest = Reading.objects.filter(cluster=OuterRef("pk")).order_by("-taken_at").values("members")[:1]
    told = Cluster.objects.filter(pk__in=ages).annotate(newest_members=Subquery(newest))
    return {
        pk: ((members or {}).get("samples") or {}).get("clocks") or {}
        for pk, members in told.values_list("pk", "newest_members")
    }
