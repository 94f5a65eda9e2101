"""How long the first unconsumed message of each group, topic and broker has waited, as pages say it of each queue."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db.models import F, FloatField, OuterRef, Subquery

from consumers.models import QueueSample, QueueSnapshot, QueueState
from consumers.selectors.groups.overlay import Overlay

from .groups import ExporterGroup
from .parts import CHUNK, KNOWN_LAG, TopicPart

PartKey = tuple[int, str, str]  # group id, topic, broker


def part_waits(
    overlay: Overlay, cluster_id: int, groups: Mapping[int, ExporterGroup], parts: Iterable[TopicPart]
) -> dict[PartKey, float]:
    """Seconds, the longest of the queues; absent where that of a queue is not known. Two queries."""
    waits: dict[PartKey, float | None] = {
        (part.group_id, part.topic, part.broker): 0.0 for part in parts if part.lag_messages is not None
    }
    samples = _samples(cluster_id)
    read_at = {broker.name: broker.last_read_at for broker in overlay.clusters[cluster_id].brokers}
    for group, queue, topic, broker, offset, judged in _behind(cluster_id):
        key = (group, topic, broker)
        before = waits.get(key)
        if before is not None:
            judged = judged if groups[group].is_judged else None
            wait = _wait(samples.get((group, queue)), offset, read_at[broker], judged)
            waits[key] = None if wait is None else max(before, wait)
    return {key: wait for key, wait in waits.items() if wait is not None}


def _behind(cluster_id: int) -> Iterable[tuple[int, int, str, str, int, float | None]]:
    """The queues with lag: group and queue id, topic, broker, consumer offset, judged seconds."""
    state = QueueState.objects.filter(group=OuterRef("group_id"), queue=OuterRef("queue_id"))
    rows = QueueSnapshot.objects.filter(KNOWN_LAG, group__cluster=cluster_id, broker_offset__gt=F("consumer_offset"))
    judged = Subquery(state.values("time_lag_seconds")[:1], output_field=FloatField())
    columns = ("group_id", "queue_id", "queue__topic__name", "queue__broker", "consumer_offset", "judged_seconds")
    return rows.annotate(judged_seconds=judged).values_list(*columns).order_by().iterator(chunk_size=CHUNK)


def _samples(cluster_id: int) -> dict[tuple[int, int], tuple[int | None, datetime]]:
    rows = QueueSample.objects.filter(group__cluster=cluster_id, first_stored_at__isnull=False)
    return {
        (group, queue): (offset, at)
        for group, queue, offset, at in rows.values_list("group_id", "queue_id", "offset", "first_stored_at")
        if at is not None
    }


def _wait(
    sample: tuple[int | None, datetime] | None, offset: int, read_at: datetime | None, judged: float | None
) -> float | None:
    """By the broker's store time of the message at this very offset, else by the judgement: as overlay.time_lag."""
    if sample is not None and sample[0] == offset and read_at is not None:
        seconds = (read_at - sample[1]).total_seconds()
        if seconds > 0:
            return seconds
    return judged if judged is not None and judged > 0 else None
