"""A group that is behind, on a broker that keeps messages for three days; and measuring with a rule of each measure."""

from typing import Any

from consumers.alerts.measured import Column, Measured, column_key
from consumers.alerts.measures.registry import measured
from consumers.models import AlertRule, Cluster, ConsumerGroup, Measure, PipelineRun
from tests.world import NOW, a_broker, a_cluster, a_group, a_judged_group, a_total, ago

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


def rules(*topics: str, measures: tuple[Measure, ...] = tuple(Measure)) -> list[AlertRule]:
    """One of each measure; with topics, one for each of them too."""
    return [_rule(measure, topic) for measure in measures for topic in topics or ("",)]


def _rule(measure: Measure, topic: str) -> AlertRule:
    compared: dict[str, Any] = {"comparison": "above", "threshold": 1.0}
    if measure == Measure.STATE:
        compared = {"comparison": "in", "states": ["STALL"]}
    if measure == Measure.FINDINGS:
        compared["findings"] = ["critical"]
    return AlertRule(name=f"{measure} {topic}", measure=measure, topic=topic, severity="warning", **compared)


def everything(*topics: str) -> Measured:
    """All measures of all groups at NOW, and those that know topics of `topics`."""
    of_topics = (Measure.STATE, Measure.LAG, Measure.TIME_LAG, Measure.UNOWNED, Measure.DOUBLY_OWNED, Measure.BLOCKED)
    return measured(NOW, [*rules(), *(rules(*topics, measures=of_topics) if topics else [])])


def column(measure: Measure) -> Column:
    """Of all groups."""
    return everything().groups.columns[column_key(_rule(measure, ""))]


def of_group(measure: Measure, place: int = 0) -> tuple[Any, str]:
    """The value of a group, and the words that it comes with."""
    found = column(measure)
    value = found.values[place]
    return value, found.reason(place) if value is None else found.suppressed(place) or found.evidence(place)
