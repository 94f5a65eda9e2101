"""Words of incident events for a person on call: what, where, since when, and the numbers."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from consumers.alerts.evaluation.machine import CourseTimes, Step, step
from consumers.alerts.measures.registry import SPECS
from consumers.alerts.notes import Notes
from consumers.alerts.weekly import active_until
from consumers.models import (
    Ending,
    Incident,
    IncidentEvent,
    IncidentEventKind,
    IncidentStatus,
    Measure,
    Silence,
    SubjectKind,
)
from consumers.vocabulary.alerts import IncidentSentence
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.times import iso

from .rows import (
    Explained,
    Seen,
    begun,
    column_values,
    course_of,
    describe,
    follow,
    note_seen,
    silence_of,
)

# The parts of a rule that affect its incidents: severity, threshold and states.
Counts = tuple[str, float | None, list[str] | None]


def where(incident: Incident) -> str:
    if incident.subject_kind == SubjectKind.SITE:
        return "Consumerscope"
    names = [incident.cluster_name, incident.broker_name or incident.group_name]
    place = "/".join(name for name in names if name)
    if not incident.topic_name:
        return place
    return stored_reason(IncidentSentence.GROUP_ON_TOPIC, place=place, topic=incident.topic_name)


def sentence(kind: IncidentEventKind, incident: Incident, now: datetime) -> str:
    """The event's sentence, from what the evaluation saw, as it is stored. `incident` is already updated."""
    named = {"where": where(incident), "rule": incident.rule_name, "what": incident.state or incident.rule_name}
    if kind == IncidentEventKind.FIRING:
        named |= {"since": iso(incident.started_at), "evidence": incident.evidence}
        if not incident.groups_count:
            return stored_reason(IncidentSentence.FIRING, **named)
        return stored_reason(IncidentSentence.FIRING_UNKNOWN_GROUPS, **named, unknown_groups=incident.groups_count)
    if kind == IncidentEventKind.UNKNOWN:
        return stored_reason(IncidentSentence.UNKNOWN, **named, reason=incident.unknown_reason)
    if kind == IncidentEventKind.KNOWN:
        return stored_reason(IncidentSentence.KNOWN, **named, evidence=incident.evidence)
    if kind == IncidentEventKind.RESOLVED:
        lasted = (now - incident.started_at).total_seconds()
        return stored_reason(
            ENDINGS[Ending(incident.ending or Ending.RECOVERED)],
            **named,
            lasted_seconds=lasted,
            evidence=incident.evidence,
        )
    raise ValueError(f"The evaluation sees no {kind}.")


ENDINGS = {
    Ending.GONE: IncidentSentence.GONE,
    Ending.RULE: IncidentSentence.RULE_ENDED,
    Ending.RECOVERED: IncidentSentence.RECOVERED,
}
CHANGES = (
    IncidentSentence.SEVERITY_CHANGED,
    IncidentSentence.THRESHOLD_CHANGED,
    IncidentSentence.STATES_CHANGED,
)


def changed(incident: Incident, before: Counts, after: Counts) -> str:
    changes = [
        stored_reason(code, before=_value_text(old), after=_value_text(new))
        for code, old, new in zip(CHANGES, before, after, strict=True)
        if old != new
    ]
    return stored_reason(IncidentSentence.RULE_CHANGED, where=where(incident), changes=changes)


def silenced(incident: Incident, silence: Silence, now: datetime) -> str:
    values = {"where": where(incident), "until": iso(active_until(silence, now))}
    return stored_reason(IncidentSentence.SILENCED, **values, by=silence.by_name, reason=silence.reason)


def unsilenced(incident: Incident) -> str:
    return stored_reason(IncidentSentence.UNSILENCED, where=where(incident))


def _value_text(value: str | float | list[str] | None) -> str | list[str] | None:
    return f"{value:,.10g}" if isinstance(value, float | int) else value


Kind = IncidentEventKind


@dataclass
class Changes:
    """`changed` were open before; `forgotten` were pending and leave no trace. `events` are in the order they happened.

    `audible`: all firing incidents that no silence suppresses, whether they changed or not.
    """

    begun: list[Incident] = field(default_factory=list)
    changed: list[Incident] = field(default_factory=list)
    forgotten: list[Incident] = field(default_factory=list)
    events: list[IncidentEvent] = field(default_factory=list)
    audible: list[Incident] = field(default_factory=list)

    def count(self, kind: IncidentEventKind) -> int:
        return sum(event.kind == kind for event in self.events)


@dataclass(frozen=True)
class Compared:
    """Compares measured values with open incidents at one point in time."""

    now: datetime
    notes: Notes
    silences: list[Silence]
    explained: Explained
    changes: Changes = field(default_factory=Changes)

    def take(self, observations: Iterable[Seen]) -> Changes:
        for seen in observations:
            self._take(seen)
        return self.changes

    def _take(self, seen: Seen) -> None:
        incident = seen.incident
        course = None if incident is None else course_of(incident)
        after = step(
            course, seen.observation, self._waits(seen), self.now, None if seen.place is None else seen.place.since
        )
        if incident is None:
            self._begin(seen, after)
        elif after.course is None and after.ending is None:
            self.changes.forgotten.append(incident)
        else:
            before = column_values(incident)
            self._go_on(incident, seen, after)
            if column_values(incident) != before:
                self.changes.changed.append(incident)

    def _waits(self, seen: Seen) -> CourseTimes:
        """The durations before firing and resolving; 0 where the subject is not selected: it resolves at once."""
        if seen.terms is None or seen.rule is None:
            return CourseTimes(0, 0)
        counts_from_start = seen.place is not None and seen.place.since is not None
        is_age = counts_from_start and SPECS[Measure(seen.rule.measure)].is_age
        return CourseTimes(seen.terms.for_seconds_since(is_age=is_age), seen.terms.clear_seconds)

    def _begin(self, seen: Seen, after: Step) -> None:
        if after.course is None or seen.place is None or seen.rule is None:
            return
        incident = begun(seen.rule, seen.place.subject)
        self._go_on(incident, seen, after)
        self.changes.begun.append(incident)

    def _go_on(self, incident: Incident, seen: Seen, after: Step) -> None:
        if changed := self._describe(incident, seen):
            self._tell(Kind.CHANGED, incident, changed)
        note_seen(incident, seen, self.explained, self.now)
        follow(incident, after, self.now)
        for kind in after.events:
            self._tell(kind, incident, sentence(kind, incident, self.now))
        if incident.status == IncidentStatus.FIRING:
            self._silence(incident)
            if incident.silence_id is None:
                self.changes.audible.append(incident)

    def _describe(self, incident: Incident, seen: Seen) -> str | None:
        """One sentence: what a change of the rule changed for a firing incident."""
        if seen.rule is None or seen.terms is None or seen.place is None:
            return None
        subject = seen.place.subject
        before = incident.severity, incident.threshold, incident.states
        describe(incident, seen.rule, seen.terms, subject, self.notes.said(subject))
        after = incident.severity, incident.threshold, incident.states
        if incident.status != IncidentStatus.FIRING or before == after:
            return None
        return changed(incident, before, after)

    def _silence(self, incident: Incident) -> None:
        silence, before = silence_of(incident, self.silences), incident.silence_id
        incident.silence = silence
        if silence is not None and silence.pk != before:
            self._tell(Kind.SILENCED, incident, silenced(incident, silence, self.now))
        elif silence is None and before is not None:
            self._tell(Kind.UNSILENCED, incident, unsilenced(incident))

    def _tell(self, kind: IncidentEventKind, incident: Incident, words: str) -> None:
        self.changes.events.append(IncidentEvent(incident=incident, at=self.now, kind=kind, sentence=words))
