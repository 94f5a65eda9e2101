"""What an incident's events say, for somebody who was just woken: what, where, since when, and the numbers."""

from datetime import UTC, datetime

from consumers.models import Ending, Incident, IncidentEventKind, Silence, SubjectKind
from consumers.queries.texts import age

# Severity, threshold and states of a rule: what of it counts for an incident.
Counts = tuple[str, float | None, list[str] | None]


def moment(at: datetime, now: datetime) -> str:
    """With its day where that is not today's."""
    at, now = at.astimezone(UTC), now.astimezone(UTC)
    return f"{at:%H:%M} UTC" if at.date() == now.date() else f"{at:%Y-%m-%d %H:%M} UTC"


def where(incident: Incident) -> str:
    if incident.subject_kind == SubjectKind.SITE:
        return "Consumerscope"
    names = [incident.cluster_name, incident.broker_name or incident.group_name]
    place = "/".join(name for name in names if name)
    return f"{place} on {incident.topic_name}" if incident.topic_name else place


def what(incident: Incident) -> str:
    """`prod/billing: STALL`, or `prod/billing: Far behind` where a number is compared."""
    return f"{where(incident)}: {incident.state or incident.rule_name}"


def sentence(kind: IncidentEventKind, incident: Incident, now: datetime) -> str:
    """Of what the evaluation saw. The incident is as it is after it."""
    if kind == IncidentEventKind.FIRING:
        words = f"{what(incident)} since {moment(incident.started_at, now)}: {incident.evidence}"
        return words + _groups(incident)
    if kind == IncidentEventKind.UNKNOWN:
        return f"{what(incident)} is not known any more, and stays open: {incident.unknown_reason}"
    if kind == IncidentEventKind.KNOWN:
        return f"{where(incident)}: {incident.rule_name} is known again: {incident.evidence}"
    if kind == IncidentEventKind.RESOLVED:
        return f"{where(incident)}: {_resolved(incident, now)}"
    raise ValueError(f"The evaluation sees no {kind}.")


def changed(incident: Incident, before: Counts, after: Counts) -> str:
    names = ("severity", "threshold", "states")
    words = [
        f"{name} {_said(old)} → {_said(new)}" for name, old, new in zip(names, before, after, strict=True) if old != new
    ]
    return f"{where(incident)}: the rule was changed: {', '.join(words)}."


def silenced(incident: Incident, silence: Silence, now: datetime) -> str:
    until = moment(silence.ends_at, now)
    return f"{where(incident)}: nobody is told until {until}, as {silence.by_name} silenced it: {silence.reason}"


def unsilenced(incident: Incident) -> str:
    return f"{where(incident)}: the silence is over."


def _resolved(incident: Incident, now: datetime) -> str:
    name, lasted = incident.rule_name, age((now - incident.started_at).total_seconds())
    if incident.ending == Ending.GONE:
        return f"{name} ends after {lasted}: there is no such thing any more, or no rule looks at it."
    if incident.ending == Ending.RULE:
        return f"{name} ends after {lasted}: the rule was removed, switched off, or does not select this any more."
    return f"{name} is over after {lasted}: {incident.evidence}"


def _said(value: str | float | list[str] | None) -> str:
    if isinstance(value, list):
        return " or ".join(value)
    return f"{value:,.10g}" if isinstance(value, float | int) else value or "none"


def _groups(incident: Incident) -> str:
    if not incident.groups_count:
        return ""
    return f"; it leaves {incident.groups_count:,} group{'s' if incident.groups_count > 1 else ''} unknown"
