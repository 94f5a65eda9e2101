"""What name servers tell of brokers, beside their rows. A failure leaves what was known, with its reason."""

from collections.abc import Iterable
from datetime import datetime

from consumers.models import Cluster
from consumers.polling.brokers.routed_permissions import RoutedPermission

from .store_configs import MASTER


def record_routed_permissions(cluster: Cluster, routed: Iterable[RoutedPermission], now: datetime) -> None:
    for told in routed:
        row = cluster.brokers.filter(name=told.broker, broker_id=MASTER)
        if told.error is not None:
            row.update(routed_error=told.error)
        else:
            row.update(routed_permission=told.permission, routed_at=now, routed_error=None)
