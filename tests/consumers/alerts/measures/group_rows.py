"""A group that is behind, on a broker that keeps messages for three days."""

from typing import Any

from consumers.models import Cluster, ConsumerGroup, PipelineRun
from tests.world import a_broker, a_cluster, a_group, a_judged_group, a_total, ago

OF_GROUP = {field.name for field in ConsumerGroup._meta.fields}


def a_judged_cluster() -> Cluster:
    """What was read was judged until a minute ago, less a second."""
    PipelineRun.objects.create(since=ago(90), until=ago(59), started_at=ago(20), finished_at=ago(10))
    cluster = a_cluster()
    a_broker(cluster, file_reserved_hours=72)
    return cluster


def a_behind_group(cluster: Cluster, lag: int | None = 9, state: str = "OK", **fields: Any) -> ConsumerGroup:
    """`fields` are those of the group, or of what was judged."""
    group = a_group(cluster, **{name: value for name, value in fields.items() if name in OF_GROUP})
    reason = fields.pop("unknown_reason", "not read")
    a_total(group, lag, unknown_reason=None if lag is not None else reason)
    judged = {name: value for name, value in fields.items() if name not in OF_GROUP}
    a_judged_group(group, state, **({"time_lag_seconds": 90.0, "drain_seconds": 40.0} | judged))
    return group
