"""What brokers said of their own configuration, beside their rows. A refusal leaves what was known, with its reason."""

from collections.abc import Iterable
from datetime import datetime

from consumers.models import Cluster
from consumers.polling.brokers.store_configs import StoreConfig

MASTER = 0


def record_store_configs(cluster: Cluster, configs: Iterable[StoreConfig], now: datetime) -> None:
    for config in configs:
        row = cluster.brokers.filter(name=config.broker, broker_id=MASTER)
        if config.error is not None:
            row.update(config_error=config.error)
            continue
        row.update(
            file_reserved_hours=config.file_reserved_hours,
            delete_when=config.delete_when,
            permission=config.permission,
            delay_levels=config.delay_levels,
            config_at=now,
            config_error=None,
        )
