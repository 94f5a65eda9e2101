"""What waits on the delay levels of every broker, in one row each, those that deliver late first."""

from dataclasses import dataclass
from datetime import datetime

from consumers.models import Cluster

from .broker_levels import BrokerLevels
from .delay_levels import cluster_levels


@dataclass(frozen=True)
class BrokerDelays:
    cluster: str
    levels: BrokerLevels


def delay_summary(cluster: str | None, now: datetime) -> list[BrokerDelays]:
    """Of one cluster or of all. Six queries, however many brokers there are."""
    named = dict(Cluster.objects.values_list("pk", "name"))
    wanted = [pk for pk, name in named.items() if cluster in (None, name)]
    rows = [BrokerDelays(named[pk], one) for pk, brokers in cluster_levels(wanted, now).items() for one in brokers]
    return sorted(rows, key=lambda row: (not row.levels.findings, row.cluster, row.levels.broker))
