"""An incident as a row for people and scripts."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from consumers.models import Comparison, Incident, IncidentStatus, SubjectKind

from .rows import GroupName, IncidentRow, SubjectRow
from .said import said
from .words import condition_words

# What each kind of subject has a name of.
NAMED = {
    SubjectKind.SITE: (),
    SubjectKind.CLUSTER: ("cluster",),
    SubjectKind.BROKER: ("cluster", "broker"),
    SubjectKind.GROUP: ("cluster", "group"),
    SubjectKind.TOPIC: ("cluster", "group", "topic"),
}
PLAIN = ("status", "severity", "rule_name", "measure", "comparison", "started_at", "unknown_reason", "labels")
MAY_BE_NULL = (
    *("threshold", "states", "fired_at", "clearing_since", "resolved_at", "ending"),
    *("value", "worst_value", "state", "evidence", "value_at", "unknown_since", "groups_count"),
    *("owner", "runbook_url", "note", "acknowledged_at", "acknowledgement"),
)


def incident_row(incident: Incident, now: datetime) -> IncidentRow:
    """`incident` comes with its silence. Without a query."""
    values: dict[str, Any] = {name: getattr(incident, name) for name in MAY_BE_NULL}
    values |= {
        "rule": incident.rule_id,
        "acknowledged_by": incident.acknowledged_by_name,
        "silence": incident.silence_id,
        "silenced_until": incident.silence.ends_at if incident.silence else None,
    }
    end = incident.resolved_at or now
    return IncidentRow(
        id=str(incident.pk),
        **{name: getattr(incident, name) for name in PLAIN},
        condition=condition_words(incident.measure, incident.comparison, incident.threshold, incident.states),
        subject=_subject(incident),
        seconds=max(0.0, (end - incident.started_at).total_seconds()),
        groups=[GroupName(cluster, group) for cluster, group in incident.group_names],
        **said(values, _why(incident)),
    )


def _subject(incident: Incident) -> SubjectRow:
    kind = SubjectKind(incident.subject_kind)
    names = {name: getattr(incident, f"{name}_name") for name in ("cluster", "broker", "group", "topic")}
    reason = _("it is not of one: it is of %s") % _of(kind)
    return SubjectRow(kind=kind.value, title=_title(kind, names), **said(names, dict.fromkeys(names, reason)))


def _of(kind: SubjectKind) -> str:
    return {
        SubjectKind.SITE: _("the whole site"),
        SubjectKind.CLUSTER: _("a cluster"),
        SubjectKind.BROKER: _("a broker"),
        SubjectKind.GROUP: _("a group"),
        SubjectKind.TOPIC: _("a group's part of a topic"),
    }[kind]


def _title(kind: SubjectKind, names: dict[str, str]) -> str:
    """`prod/billing`, `prod/broker-a`, `prod/billing on Orders`."""
    if kind == SubjectKind.SITE:
        return "Consumerscope"
    place = "/".join(names[name] for name in NAMED[kind] if name != "topic")
    return _("%(place)s on %(topic)s") % {"place": place, "topic": names["topic"]} if names["topic"] else place


def _why(incident: Incident) -> dict[str, str]:
    is_state = incident.comparison == Comparison.IN
    number = _("states are compared") if is_state else _("no number was known while it was open")
    not_over = _("it is not over")
    return {
        "rule": _("the rule was removed"),
        "threshold": _("states are compared"),
        "states": _("a number is compared"),
        "fired_at": _("it has not held for long enough")
        if incident.status == IncidentStatus.PENDING
        else _("it did not fire"),
        "clearing_since": _("it is over") if incident.resolved_at else _("it still holds, as far as is known"),
        **dict.fromkeys(("resolved_at", "ending"), not_over),
        **dict.fromkeys(("value", "worst_value"), number),
        "state": _("no state was known while it was open") if is_state else _("a number is compared"),
        **dict.fromkeys(("evidence", "value_at"), _("nothing was known while it was open")),
        "unknown_since": _("its value is known"),
        "groups_count": _("it leaves no other groups unknown: it is of a group")
        if incident.group_name
        else _("how many groups it leaves unknown is not known"),
        **dict.fromkeys(("owner", "runbook_url", "note"), _("no note about the group or rule gives one")),
        **dict.fromkeys(("silence", "silenced_until"), _("no silence holds it back")),
        **dict.fromkeys(("acknowledged_at", "acknowledged_by"), _("nobody has acknowledged it")),
        "acknowledgement": _("nothing was said with it")
        if incident.acknowledged_at
        else _("nobody has acknowledged it"),
    }
