"""A group's offsets, queue by queue, as CSV that a reset accepts as its target: from the newest reading, never
estimated.
"""

from collections.abc import Iterator
from datetime import datetime

from consumers.jobs.csv_cells import cell, line_of
from consumers.models import ConsumerGroup, QueueSnapshot, TopicKind
from consumers.queries.brokers import broker_ages
from consumers.queries.limits import limits
from consumers.queries.queues.overlay import offsets

COLUMNS = ("topic", "broker", "queue_id", "offset", "min", "max", "taken_at", "unknown_reason")
ROWS_AT_ONCE = 2_000


def group_offsets_csv(group: ConsumerGroup, now: datetime) -> Iterator[str]:
    """Includes its retry topics, without its DLQ. `taken_at`: the last successful reading of the broker."""
    yield line_of(COLUMNS)
    brokers = {broker.name: broker for broker in broker_ages([group.cluster_id])[group.cluster_id].brokers}
    bounds = limits()
    rows = QueueSnapshot.objects.filter(group=group).exclude(queue__topic__kind=TopicKind.DLQ)
    ordered = rows.select_related("queue__topic").order_by("queue__topic__name", "queue__broker", "queue__queue_id")
    for snapshot in ordered.iterator(chunk_size=ROWS_AT_ONCE):
        queue = snapshot.queue
        broker = brokers.get(queue.broker)
        read = offsets(snapshot, broker, now, bounds)
        taken_at = broker.last_read_at if broker is not None else None
        values = (read.consumer_offset, read.min_offset, read.broker_offset, taken_at, read.reason)
        yield line_of(map(cell, (queue.topic.name, queue.broker, queue.queue_id, *values)))
