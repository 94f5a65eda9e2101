"""Writes what an evaluation found into the rows of incidents."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.conf import settings

from consumers.alerts.evaluation.looks import Place, Seen
from consumers.alerts.evaluation.machine import Course, Look, Step
from consumers.alerts.notes import Said
from consumers.alerts.rules.selection import Selection
from consumers.alerts.rules.terms import Terms
from consumers.alerts.subjects import Subject
from consumers.models import AlertRule, Comparison, Ending, Incident, IncidentStatus, Silence, State, SubjectKind

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


def describe(incident: Incident, rule: AlertRule, terms: Terms, subject: Subject, said: Said) -> None:
    """Sets what the rule and the notes say of the incident now."""
    incident.rule_name, incident.severity = rule.name, terms.severity.value
    incident.measure, incident.comparison = rule.measure, rule.comparison
    incident.threshold, incident.states = terms.threshold, rule.states
    incident.group_id = subject.group_id
    incident.owner, incident.note, incident.labels = said.owner, said.note, dict(said.labels)
    incident.runbook_url = said.runbook_url or rule.runbook_url


def note_seen(incident: Incident, seen: Seen, explained: Explained, now: datetime) -> None:
    """Sets the current value, or the reason why there is none."""
    place = seen.place
    if place is None:
        return
    if seen.look is Look.UNKNOWN:
        incident.unknown_reason = place.reason
        return
    incident.unknown_reason = None
    _note_value(incident, place)
    incident.evidence, incident.value_at = place.evidence, now
    if seen.look is Look.HOLDS and incident.subject_kind not in OF_GROUPS:
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
    return list(Silence.objects.filter(starts_at__lte=now, ends_at__gt=now).order_by("-ends_at", "-pk"))


def silence_of(incident: Incident, silences: Sequence[Silence]) -> Silence | None:
    """The first active silence that matches the incident."""
    if not silences:
        return None
    subject = Subject.of_incident(incident)
    for silence in silences:
        if silence.rule_id in (None, incident.rule_id) and Selection.of(silence).takes(subject, incident.labels):
            return silence
    return None
