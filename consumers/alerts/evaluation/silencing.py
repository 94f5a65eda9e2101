"""Which silence keeps an incident from being told."""

from collections.abc import Sequence
from datetime import datetime

from consumers.alerts.rules.selection import Selection
from consumers.alerts.subjects import Subject
from consumers.models import Incident, Silence


def silences_at(now: datetime) -> list[Silence]:
    """The one that lasts longest first."""
    return list(Silence.objects.filter(starts_at__lte=now, ends_at__gt=now).order_by("-ends_at", "-pk"))


def silence_of(incident: Incident, silences: Sequence[Silence]) -> Silence | None:
    """Of those that hold now, the first that takes it."""
    if not silences:
        return None
    subject = Subject.of_incident(incident)
    for silence in silences:
        if silence.rule_id in (None, incident.rule_id) and Selection.of(silence).takes(subject, incident.labels):
            return silence
    return None
