"""Measuring with a rule of each measure."""

from typing import Any

from consumers.alerts.measured import Column, Measured, column_key
from consumers.alerts.measures.registry import measured
from consumers.models import AlertRule, Measure
from tests.world import NOW


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
