"""Brokers that are read and yet in a state that concerns their groups: one row each, not one a group."""

from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from consumers.models import Broker, QueueSnapshot
from consumers.selectors.brokers import MASTER

from .rows import BrokerTrouble

WRITE = 2  # RocketMQ 5.4.0, PermName


def broker_troubles(found: QuerySet[Any]) -> list[BrokerTrouble]:
    """Those with the most groups of `found` first. One query where no broker has said anything unusual.

    A broker that does not take messages gives its own out all the same; retries go to another broker, or not at all.
    """
    told = Broker.objects.filter(broker_id=MASTER, permission__isnull=False).select_related("cluster")
    closed = [broker for broker in told if not (broker.permission or 0) & WRITE]
    rows = [
        BrokerTrouble(
            f"{broker.name} takes no messages: its brokerPermission is {broker.permission}",
            broker.cluster.name,
            broker.name,
            broker.config_at,
            _groups_on(broker, found),
        )
        for broker in closed
    ]
    return sorted((row for row in rows if row.groups), key=lambda row: (-row.groups, row.cluster, row.broker))


def _groups_on(broker: Broker, found: QuerySet[Any]) -> int:
    held = QueueSnapshot.objects.filter(group=OuterRef("pk"), queue__broker=broker.name)
    return found.filter(Exists(held), cluster=broker.cluster_id).order_by().count()
