"""A cluster's delay levels after its offsets: read, looked into in their turn, and recorded."""

from collections.abc import Callable
from datetime import datetime

from consumers.models import Cluster
from consumers.polling.memory import ClusterMemory
from consumers.polling.reading import OffsetsReading
from consumers.polling.record.delays import record_delays
from consumers.polling.wire import Wire
from consumers.rocketmq.names import group_of_retry_topic

from .answers import DelayLimits, DelayMemory, DelayTurn
from .collect_delays import collect_delays

MASTER = 0


class DelayPoller:
    """One per cluster and process."""

    def __init__(self, cluster: Cluster, limits: DelayLimits) -> None:
        self._cluster = cluster
        self._limits = limits
        self._memory = DelayMemory()

    def poll(
        self, wire: Wire, offsets: OffsetsReading, memory: ClusterMemory, now: datetime, deadline_seconds: float
    ) -> dict[str, int | float]:
        """What it cost. To be called after the offsets and the brokers' configurations were recorded."""
        masters = self._cluster.brokers.filter(broker_id=MASTER)
        is_due = self._memory.samples_are_due(self._limits, now)
        turn = DelayTurn(
            wire.pool,
            self._limits,
            dict(masters.values_list("name", "delay_levels")),
            _group_of(self._cluster, memory) if is_due else lambda topic: None,
            now,
            deadline_seconds,
        )
        reading = wire.run(collect_delays(turn, offsets.brokers, self._memory))
        record_delays(self._cluster, reading.brokers, now)
        return reading.summary


def _group_of(cluster: Cluster, memory: ClusterMemory) -> Callable[[str], str | None]:
    groups = set(cluster.groups.values_list("name", flat=True))
    topics = memory.topics or frozenset()
    return lambda topic: group_of_retry_topic(topic, groups, topics)
