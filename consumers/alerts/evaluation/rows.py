"""Writes what an evaluation found into the rows of incidents."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from consumers.alerts.measured import Column, Measured, Subject, Table, column_key
from consumers.alerts.notes import NoteContent
from consumers.alerts.rule_terms import RuleTerms, Selection, Terms, Value
from consumers.alerts.weekly import active_until, is_active
from consumers.models import AlertRule, Comparison, Ending, Incident, IncidentStatus, Silence, State, SubjectKind
from consumers.vocabulary.reasons import to_store

from .machine import Course, Observation, Step

# Evaluates subjects under rules; keeps only those that pass the condition or have an open incident.

# A rule's open incidents by the key of their subject.
Open = Mapping[str, Incident]


@dataclass(frozen=True, slots=True)
class Place:
    """One subject in one column."""

    column: Column
    subject: Subject
    number: int
    labels: Mapping[str, str]

    @property
    def value(self) -> Value:
        return self.column.values[self.number]

    @property
    def since(self) -> datetime | None:
        return self.column.since(self.number)

    @property
    def suppressed(self) -> str | None:
        return self.column.suppressed(self.number)

    @property
    def absent(self) -> str | None:
        return self.column.absent(self.number)

    @property
    def is_bound(self) -> bool:
        return self.column.is_bound(self.number)

    @property
    def evidence(self) -> str:
        """The evidence; for a suppressed subject, or one without such a value, the reason of that."""
        return self.suppressed or self.absent or self.column.evidence(self.number)

    @property
    def reason(self) -> str:
        return self.column.reason(self.number)


@dataclass(frozen=True, slots=True)
class Seen:
    """`place` and `terms` are null where the subject does not exist any more or the rule does not select it."""

    observation: Observation
    rule: AlertRule | None
    incident: Incident | None
    place: Place | None = None
    terms: Terms | None = None


def seen(measured: Measured, rules: Sequence[AlertRule], incidents: Iterable[Incident]) -> Iterator[Seen]:
    """`incidents`: all open incidents with their rules; `rules`: all enabled rules."""
    opened: dict[int, dict[str, Incident]] = {rule.pk: {} for rule in rules}
    for incident in incidents:
        if incident.rule_id in opened:
            opened[incident.rule_id][incident.subject_key] = incident
        else:
            yield Seen(Observation.UNSELECTED, incident.rule, incident)
    places = {id(table): _places(table) for table in _tables(measured)} if any(opened.values()) else {}
    for rule in rules:
        yield from _under(rule, measured, opened[rule.pk], places)


def _under(
    rule: AlertRule, measured: Measured, opened: Open, places: Mapping[int, Mapping[str, int]]
) -> Iterator[Seen]:
    key_of_column, found = column_key(rule), set()
    for table in _tables(measured, rule.topic):
        if key_of_column not in table.columns:
            continue
        numbers = places.get(id(table), {})
        open_at = {numbers[key]: incident for key, incident in opened.items() if key in numbers}
        found |= {incident.subject_key for incident in open_at.values()}
        yield from _in_table(rule, table, open_at)
    for key, incident in opened.items():
        if key not in found:
            observation = Observation.UNSELECTED if _is_of_another_kind(rule, incident) else Observation.GONE
            yield Seen(observation, rule, incident)


def _in_table(rule: AlertRule, table: Table, open_at: Mapping[int, Incident]) -> Iterator[Seen]:
    terms, selection = RuleTerms.of(rule), Selection.of(rule)
    column = table.columns[column_key(rule)]
    for number, value in enumerate(column.values):
        incident = open_at.get(number)
        if incident is None and (value is None or (not terms.overrides and not terms.own.holds(value))):
            continue
        place = Place(column, table.subjects[number], number, table.labels[number])
        its = terms.terms(place.subject) if selection.takes(place.subject, place.labels) else None
        if its is None or (incident is not None and incident.measure != rule.measure):
            if incident is not None:
                yield Seen(Observation.UNSELECTED, rule, incident)
        elif incident is not None or its.holds(value):
            yield Seen(_observation(its, place), rule, incident, place, its)


def _observation(terms: Terms, place: Place) -> Observation:
    if place.value is None:
        return Observation.UNKNOWN if place.absent is None else Observation.OVER
    if place.suppressed is not None:
        return Observation.OVER
    if terms.holds(place.value):
        return Observation.HOLDS
    if place.is_bound:
        return Observation.UNKNOWN
    return Observation.OVER if terms.cleared(place.value) else Observation.BETWEEN


def _is_of_another_kind(rule: AlertRule, incident: Incident) -> bool:
    return incident.measure != rule.measure or incident.topic_name != rule.topic


def _tables(measured: Measured, topic: str | None = None) -> list[Table]:
    """The tables for a rule that names `topic` ("" is none), or all tables."""
    whole = [measured.groups, measured.brokers, measured.clusters, measured.site]
    if topic is None:
        return [*whole, *measured.topics.values()]
    if topic:
        return [measured.topics[topic]] if topic in measured.topics else []
    return whole


def _places(table: Table) -> dict[str, int]:
    return {subject.key: number for number, subject in enumerate(table.subjects)}


Explained = Mapping[str, Sequence[Subject]]
OF_GROUPS = (SubjectKind.GROUP, SubjectKind.TOPIC)
# The columns that an evaluation writes of an open incident. Columns that people's actions set are not among them.
WRITTEN = [
    *("rule_name", "severity", "measure", "comparison", "threshold", "states", "group"),
    *("status", "started_at", "fired_at", "clearing_since", "resolved_at", "ending"),
    *("value", "worst_value", "state", "evidence", "value_at", "unknown_since", "unknown_reason"),
    *("groups_count", "group_names", "owner", "runbook_url", "note", "labels", "silence"),
]
_COLUMNS = [f"{name}_id" if name in ("group", "silence") else name for name in WRITTEN]


def begun(rule: AlertRule, subject: Subject) -> Incident:
    return Incident(
        rule=rule,
        subject_kind=subject.kind,
        subject_key=subject.key,
        cluster_name=subject.cluster,
        broker_name=subject.broker,
        group_name=subject.group,
        topic_name=subject.topic,
    )


def column_values(incident: Incident) -> list[object]:
    """The values of these columns, to find out whether anything must be written."""
    return [getattr(incident, name) for name in _COLUMNS]


def course_of(incident: Incident) -> Course:
    return Course(
        IncidentStatus(incident.status),
        incident.started_at,
        incident.fired_at,
        incident.clearing_since,
        incident.unknown_since,
    )


def describe(incident: Incident, rule: AlertRule, terms: Terms, subject: Subject, content: NoteContent) -> None:
    """Sets what the rule and the notes say of the incident now."""
    incident.rule_name, incident.severity = rule.name, terms.severity.value
    incident.measure, incident.comparison = rule.measure, rule.comparison
    incident.threshold, incident.states = terms.threshold, rule.states
    incident.group_id = subject.group_id
    incident.owner, incident.note, incident.labels = content.owner, content.note, dict(content.labels)
    incident.runbook_url = content.runbook_url or rule.runbook_url


def note_seen(incident: Incident, seen: Seen, explained: Explained, now: datetime) -> None:
    """Sets the current value, or the reason why there is none."""
    place = seen.place
    if place is None:
        return
    if seen.observation is Observation.UNKNOWN:
        incident.unknown_reason = to_store(place.reason)
        return
    incident.unknown_reason = None
    if place.absent is None:
        _note_value(incident, place)
    incident.evidence, incident.value_at = to_store(place.evidence), now
    if seen.observation is Observation.HOLDS and incident.subject_kind not in OF_GROUPS:
        groups = explained.get(incident.subject_key, ())
        incident.groups_count = len(groups)
        incident.group_names = [[group.cluster, group.group] for group in groups[: settings.ALERT_NAMED_IN_MESSAGE]]


def _note_value(incident: Incident, place: Place) -> None:
    value = place.value
    if value is None:
        raise ValueError(f"{incident} has no value that could be noted.")
    if isinstance(value, State):
        incident.state = value.value
        return
    number = float(value)
    worse = min if incident.comparison == Comparison.BELOW else max
    incident.value = number
    incident.worst_value = number if incident.worst_value is None else worse(incident.worst_value, number)


def follow(incident: Incident, step: Step, now: datetime) -> None:
    """Sets the incident's state after `step`, which leaves it open or resolves it."""
    course = step.course
    if course is None:
        incident.status, incident.resolved_at = IncidentStatus.RESOLVED, now
        incident.ending, incident.clearing_since = step.ending, None
        if step.ending == Ending.RECOVERED:
            incident.unknown_since = None
        return
    incident.status, incident.started_at, incident.fired_at = course.status, course.started_at, course.fired_at
    incident.clearing_since, incident.unknown_since = course.clearing_since, course.unknown_since


# Which silence suppresses notifications of an incident.


def silences_at(now: datetime) -> list[Silence]:
    """The active silences; the one that lasts longest is first."""
    found = Silence.objects.filter(starts_at__lte=now, ends_at__gt=now).order_by("-ends_at", "-pk")
    active = [silence for silence in found if is_active(silence, now)]
    return sorted(active, key=lambda silence: active_until(silence, now), reverse=True)


def silence_of(incident: Incident, silences: Sequence[Silence]) -> Silence | None:
    """The first active silence that matches the incident."""
    if not silences:
        return None
    subject = Subject.of_incident(incident)
    for silence in silences:
        if silence.rule_id in (None, incident.rule_id) and Selection.of(silence).takes(subject, incident.labels):
            return silence
    return None
