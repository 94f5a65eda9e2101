"""What an evaluation changes: incidents that begin, go on, are forgotten or end, and the events that tell of it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from consumers.alerts.notes import Notes
from consumers.models import Incident, IncidentEvent, IncidentEventKind, IncidentStatus, Silence

from . import sentences
from .looks import Seen
from .machine import Step, Waits, step
from .rows import Explained, begun, column_values, course_of, describe, follow, note_seen
from .silencing import silence_of

Kind = IncidentEventKind


@dataclass
class Changes:
    """`changed` were open before; `forgotten` were pending and leave no trace. `events` in the order they happened.

    `audible`: those that fire and that no silence keeps from being told, whether anything of them changed or not.
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
    """Compares what is seen with what is open, at one moment."""

    now: datetime
    notes: Notes
    silences: list[Silence]
    explained: Explained
    changes: Changes = field(default_factory=Changes)

    def take(self, looks: Iterable[Seen]) -> Changes:
        for seen in looks:
            self._take(seen)
        return self.changes

    def _take(self, seen: Seen) -> None:
        incident = seen.incident
        course = None if incident is None else course_of(incident)
        after = step(course, seen.look, self._waits(seen), self.now, None if seen.place is None else seen.place.since)
        if incident is None:
            self._begin(seen, after)
        elif after.course is None and after.ending is None:
            self.changes.forgotten.append(incident)
        else:
            before = column_values(incident)
            self._go_on(incident, seen, after)
            if column_values(incident) != before:
                self.changes.changed.append(incident)

    def _waits(self, seen: Seen) -> Waits:
        """Those of what is not selected count for nothing: it ends at once."""
        return Waits(0, 0) if seen.terms is None else Waits(seen.terms.for_seconds, seen.terms.clear_seconds)

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
            self._tell(kind, incident, sentences.sentence(kind, incident, self.now))
        if incident.status == IncidentStatus.FIRING:
            self._silence(incident)
            if incident.silence_id is None:
                self.changes.audible.append(incident)

    def _describe(self, incident: Incident, seen: Seen) -> str | None:
        """What a change of the rule changed of one that fires, as a sentence."""
        if seen.rule is None or seen.terms is None or seen.place is None:
            return None
        subject = seen.place.subject
        before = incident.severity, incident.threshold, incident.states
        describe(incident, seen.rule, seen.terms, subject, self.notes.said(subject))
        after = incident.severity, incident.threshold, incident.states
        if incident.status != IncidentStatus.FIRING or before == after:
            return None
        return sentences.changed(incident, before, after)

    def _silence(self, incident: Incident) -> None:
        silence, before = silence_of(incident, self.silences), incident.silence_id
        incident.silence = silence
        if silence is not None and silence.pk != before:
            self._tell(Kind.SILENCED, incident, sentences.silenced(incident, silence, self.now))
        elif silence is None and before is not None:
            self._tell(Kind.UNSILENCED, incident, sentences.unsilenced(incident))

    def _tell(self, kind: IncidentEventKind, incident: Incident, words: str) -> None:
        self.changes.events.append(IncidentEvent(incident=incident, at=self.now, kind=kind, sentence=words))
