"""Rounds of the evaluation over values that stand in the test."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from consumers.alerts.evaluation.run import ENGINE, Report, go_round
from consumers.alerts.measured import Column, Measured, Subject, Table
from consumers.alerts.notes import Notes
from consumers.alerts.rule_terms import Value
from consumers.models import AlertEngine, AlertRule, ConsumerGroup, IncidentEvent, Measure, SubjectKind

NO_TABLE = Table([], {}, [])
SILENT = "broker-b has been silent for 3 min"


@dataclass(frozen=True)
class Values:
    """Of one measure: by group name (all on the cluster prod), or by broker name for what is `of_brokers`."""

    values: Mapping[str, Value]
    measure: Measure = Measure.TIME_LAG
    of_brokers: bool = False
    suppressed: Mapping[str, str] = field(default_factory=dict)
    since: Mapping[str, datetime] = field(default_factory=dict)
    explains: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def measured(self, at: datetime) -> Measured:
        names = list(self.values)
        subjects = [self._subject(name) for name in names]
        column = Column(
            values=list(self.values.values()),
            reason=lambda place: SILENT,
            evidence=lambda place: f"{self.values[names[place]]} measured",
            since=lambda place: self.since.get(names[place]),
            suppressed=lambda place: self.suppressed.get(names[place]),
        )
        table = Table(subjects, {self.measure: column}, Notes.of_site().labels(subjects))
        explained = {self._subject(name).key: [_group(one) for one in groups] for name, groups in self.explains.items()}
        groups, brokers = (NO_TABLE, table) if self.of_brokers else (table, NO_TABLE)
        return Measured(at, groups, {}, brokers, NO_TABLE, NO_TABLE, explained)

    def _subject(self, name: str) -> Subject:
        return Subject(SubjectKind.BROKER, cluster="prod", broker=name) if self.of_brokers else _group(name)


def a_round(at: datetime, values: Values | Mapping[str, Value], *rules: AlertRule) -> Report:
    """With all rules that are switched on where none is given: time lags by group, if nothing else is said."""
    said = values if isinstance(values, Values) else Values(values)
    newest = AlertEngine.objects.get_or_create(pk=ENGINE)[0].evaluated_at
    return go_round(said.measured(at), list(rules), newest, lambda: 0.1)


def told() -> list[tuple[str, str]]:
    """Every event that was written, in order: kind and subject."""
    rows = IncidentEvent.objects.order_by("pk").values_list("kind", "incident__subject_key")
    return [(kind, key.partition("/")[2]) for kind, key in rows]


def _group(name: str) -> Subject:
    row = ConsumerGroup.objects.filter(cluster__name="prod", name=name).first()
    return Subject(SubjectKind.GROUP, cluster="prod", group=name, group_id=None if row is None else row.pk)
