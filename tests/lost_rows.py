"""Groups whose committed offsets are gone from their brokers."""

from typing import Any

from consumers.models import Cluster, ConsumerGroup
from consumers.vocabulary.states import UnknownReason
from tests.world import a_group, a_judged_group, a_judged_queue, a_queue, a_snapshot, a_total, ago


def a_losing_group(
    cluster: Cluster,
    name: str = "billing",
    *,
    queues: int = 2,
    broker: str = "broker-a",
    state: str | None = "OK",
    **fields: Any,
) -> ConsumerGroup:
    """Stood at 7 of 12 in each queue, half a minute ago; judged as if it had never committed."""
    group = a_group(cluster, name, **fields)
    for number in range(queues):
        queue = a_queue(cluster, f"Of{name}", number, broker=broker)
        lost = {"lost_offset": 7, "lost_at": ago(30 + number)}
        a_snapshot(group, queue, None, 12, min_offset=3, unknown_reason=UnknownReason.OFFSET_LOST, **lost)
        a_judged_queue(group, queue, rule="never_committed")
    a_total(
        group, None, queues=queues, unknown_queues=queues, lost_queues=queues, unknown_reason=UnknownReason.OFFSET_LOST
    )
    if state is not None:
        a_judged_group(group, state)
    return group
