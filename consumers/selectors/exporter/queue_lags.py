"""The lag of single queues of all groups, the greatest first: for scrapers that want so many series."""

from collections.abc import Iterator
from typing import NamedTuple

from django.db.models import F

from consumers.models import QueueSnapshot
from consumers.selectors.groups.overlay import Overlay

from .parts import KNOWN_LAG


class QueueLag(NamedTuple):
    group_id: int
    topic: str
    broker: str
    queue_id: int
    lag_messages: int


def queue_lags(overlay: Overlay, cluster: str | None = None) -> Iterator[QueueLag]:
    """Of the queues that are known, on brokers that are read. One query."""
    rows = QueueSnapshot.objects.filter(KNOWN_LAG)
    if cluster is not None:
        rows = rows.filter(group__cluster__name=cluster)
    read = {(age.cluster_id, age.name) for age in overlay.brokers.values() if not overlay.is_unread(age)}
    columns = ("group_id", "queue__topic__name", "queue__broker", "queue__queue_id", "lag")
    found = rows.annotate(lag=F("broker_offset") - F("consumer_offset")).order_by("-lag", "pk")
    for of_cluster, *values in found.values_list("group__cluster_id", *columns).iterator(chunk_size=2000):
        if (of_cluster, values[2]) in read:
            yield QueueLag(*values)
