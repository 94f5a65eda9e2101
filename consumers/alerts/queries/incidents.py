"""Finds incidents: lists, one with its events, open ones of groups, and marks on a time axis."""

from collections.abc import Collection
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Value, When
from django.db.models.expressions import OrderBy
from django.utils.translation import gettext as _, ngettext

from consumers.alerts.queries.deliveries import deliveries_of_incident
from consumers.alerts.queries.rows import (
    GroupName,
    IncidentDetail,
    IncidentEventRow,
    IncidentRow,
    SubjectRow,
    with_unknown,
)
from consumers.alerts.queries.words import condition_words
from consumers.alerts.weekly import active_until
from consumers.models import (
    Comparison,
    EvaluationGap,
    Incident,
    IncidentEvent,
    IncidentStatus,
    Measure,
    Severity,
    SubjectKind,
)
from consumers.queries.declared import copied
from consumers.queries.limits import why_not_evaluated
from consumers.vocabulary.reasons import reason_code
from consumers.words.marks import chained
from consumers.words.reasons import stored_words
from consumers.words.spans import count, when

# An incident as a row for people and scripts.
# What each kind of subject has a name of.
NAMED = {
    SubjectKind.SITE: (),
    SubjectKind.CLUSTER: ("cluster",),
    SubjectKind.BROKER: ("cluster", "broker"),
    SubjectKind.GROUP: ("cluster", "group"),
    SubjectKind.TOPIC: ("cluster", "group", "topic"),
}

PLAIN = ("status", "severity", "rule_name", "measure", "comparison", "started_at", "labels")

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
        "silenced_until": active_until(incident.silence, now) if incident.silence else None,
    }
    values["evidence"] = stored_words(incident.evidence)
    values["evidence_code"] = reason_code(values["evidence"])
    unknown_reason = stored_words(incident.unknown_reason)
    end = incident.resolved_at or now
    return IncidentRow(
        id=str(incident.pk),
        **{name: getattr(incident, name) for name in PLAIN},
        condition=condition_words(incident.measure, incident.comparison, incident.threshold, incident.states),
        subject=_subject(incident),
        unknown_reason=unknown_reason,
        unknown_reason_code=reason_code(unknown_reason),
        seconds=max(0.0, (end - incident.started_at).total_seconds()),
        groups=[GroupName(cluster, group) for cluster, group in incident.group_names],
        **with_unknown(values, _why(incident)),
    )


def _subject(incident: Incident) -> SubjectRow:
    kind = SubjectKind(incident.subject_kind)
    names = {name: getattr(incident, f"{name}_name") for name in ("cluster", "broker", "group", "topic")}
    reason = _("not applicable: the incident is about %s") % _of(kind)
    return SubjectRow(kind=kind.value, title=_title(kind, names), **with_unknown(names, dict.fromkeys(names, reason)))


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
    number = _("states are compared") if is_state else _("no value was known while the incident was open")
    not_over = _("not resolved")
    return {
        "rule": _("the rule was removed"),
        "threshold": _("states are compared"),
        "states": _("a number is compared"),
        "fired_at": _("pending: not met for long enough yet")
        if incident.status == IncidentStatus.PENDING
        else _("never fired"),
        "clearing_since": _("resolved") if incident.resolved_at else _("the condition is still met, as far as known"),
        **dict.fromkeys(("resolved_at", "ending"), not_over),
        **dict.fromkeys(("value", "worst_value"), number),
        "state": _("no state was known while the incident was open") if is_state else _("a number is compared"),
        **dict.fromkeys(("evidence", "evidence_code", "value_at"), _("no data while the incident was open")),
        "unknown_since": _("the value is known"),
        "groups_count": _("not applicable: the incident is about one group")
        if incident.group_name
        else _("the number of affected groups is unknown"),
        **dict.fromkeys(("owner", "runbook_url", "note"), _("neither a note about the group nor the rule sets one")),
        **dict.fromkeys(("silence", "silenced_until"), _("not silenced")),
        **dict.fromkeys(("acknowledged_at", "acknowledged_by"), _("not acknowledged")),
        "acknowledgement": _("no comment") if incident.acknowledged_at else _("not acknowledged"),
    }


# Finds incidents. A list costs as much for ten as for ten thousand that pass its filters, but for the page itself.
WORST_FIRST = Case(
    *(When(severity=severity, then=Value(place)) for place, severity in enumerate(Severity.values)),
    output_field=IntegerField(),
)

# `severity` ascending is worst first.
ORDERINGS: dict[str, F | Case] = {
    "started_at": F("started_at"),
    "fired_at": F("fired_at"),
    "resolved_at": F("resolved_at"),
    "severity": WORST_FIRST,
    "rule": F("rule_name"),
    "group": F("group_name"),
}


@dataclass(frozen=True)
class IncidentFilters:
    """`since` and `until`: those that went on in [since, until). `group` is a whole name, `statuses` any of them.

    `ordering` is a name of ORDERINGS, with `-` before it for descending; null is the newest first.
    """

    statuses: tuple[IncidentStatus, ...] = ()
    severity: Severity | None = None
    cluster: str | None = None
    group: str | None = None
    rule: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    ordering: str | None = None


def incident_list(
    filters: IncidentFilters, now: datetime, *, page: int = 1, page_size: int = 100
) -> tuple[list[IncidentRow], int]:
    """One page, and how many there are. Two queries."""
    found = filtered(filters)
    start = (page - 1) * page_size
    ordered = found.order_by(*_orders(filters.ordering)).select_related("silence")
    return [incident_row(incident, now) for incident in ordered[start : start + page_size]], found.count()


def retained_since(now: datetime) -> datetime:
    """What was resolved, sent or over before is deleted."""
    return now - timedelta(days=settings.ALERT_HISTORY_DAYS)


def why_incomplete(filters: IncidentFilters, now: datetime) -> str | None:
    """Why incidents that were resolved in the range may be missing: deleted, or never seen. Null where none can be. The
    queries of `why_not_seen`.
    """
    wants_resolved = not filters.statuses or IncidentStatus.RESOLVED in filters.statuses
    if not wants_resolved or filters.since is None:
        return None
    gone = ""
    if filters.since < retained_since(now):
        words = {"days": f"{settings.ALERT_HISTORY_DAYS:g}"}
        gone = _("resolved incidents are retained for %(days)s days") % words
    return chained(filter(None, (gone, why_not_seen(filters.since, filters.until or now)))) or None


def why_not_seen(since: datetime, until: datetime) -> str:
    """When nobody evaluated rules between two times; empty where somebody did all of the time. One query, two where
    nobody did for a time."""
    begun = Q(began_at=None) | Q(began_at__lt=until)
    gaps = EvaluationGap.objects.filter(begun, ended_at__gt=since)
    last = gaps.order_by("ended_at").last()
    if last is None:
        return ""
    if last.began_at is None:
        return _("the first known evaluation of alert rules was at %(end)s") % {"end": when(last.ended_at)}
    words, more = {"begin": when(last.began_at), "end": when(last.ended_at)}, gaps.count() - 1
    if not more:
        return _("alert rules were not evaluated from %(begin)s to %(end)s") % words
    template = ngettext(
        "alert rules were not evaluated from %(begin)s to %(end)s, and once before",
        "alert rules were not evaluated from %(begin)s to %(end)s, and %(n)s times before",
        more,
    )
    return template % {**words, "n": count(more)}


def and_not_now(reason: str | None, now: datetime) -> str:
    """The reason, and why rules are not evaluated at `now`; empty where there is neither. One query."""
    return chained(filter(None, (reason, why_not_evaluated(now))))


def firing_by_severity() -> dict[str, int]:
    """A true zero where none fires, provided that rules were evaluated lately: evaluated.py. One query."""
    rows = Incident.objects.filter(status=IncidentStatus.FIRING).order_by().values_list("severity")
    return dict.fromkeys(Severity.values, 0) | dict(rows.annotate(count=Count("pk")))


def filtered(filters: IncidentFilters) -> QuerySet[Incident]:
    found = Incident.objects.all()
    if filters.statuses:
        found = found.filter(status__in=filters.statuses)
    named = {
        "severity": filters.severity,
        "cluster_name": filters.cluster,
        "group_name": filters.group,
        "rule": filters.rule,
    }
    found = found.filter(**{name: value for name, value in named.items() if value is not None})
    if filters.since is not None:
        found = found.filter(Q(resolved_at=None) | Q(resolved_at__gte=filters.since))
    if filters.until is not None:
        found = found.filter(started_at__lt=filters.until)
    return found


def _orders(ordering: str | None) -> list[OrderBy]:
    """What has not happened is last either way. Of what ties: what nobody acknowledged first, then the newest."""
    ties = [F("acknowledged_at").asc(nulls_first=True), F("started_at").desc(), F("pk").asc()]
    if not ordering:
        return ties[1:]
    column = ORDERINGS[ordering.removeprefix("-")]
    first = column.desc(nulls_last=True) if ordering.startswith("-") else column.asc(nulls_last=True)
    return [first, *ties]


# One incident with all that happened to it.
def incident_detail(incident_id: UUID, now: datetime) -> IncidentDetail | None:
    """Five queries."""
    incident = Incident.objects.select_related("silence").filter(pk=incident_id).first()
    if incident is None:
        return None
    row = incident_row(incident, now)
    return IncidentDetail(
        **{field.name: getattr(row, field.name) for field in fields(row)},
        events=[_event(event) for event in IncidentEvent.objects.filter(incident=incident).order_by("sequence")],
        deliveries=deliveries_of_incident(incident_id),
    )


def _event(event: IncidentEvent) -> IncidentEventRow:
    unknown = {} if event.by_name else {"by": _("done by the system")}
    sentence = stored_words(event.sentence)
    code = reason_code(sentence)
    if code is None:
        unknown["sentence_code"] = _("the sentence was stored without a code")
    return IncidentEventRow(event.sequence, event.at, event.kind, sentence, code, event.by_name or None, unknown)


# Incidents as marks on a time axis.
MARKS_SHOWN = 200


@dataclass(frozen=True)
class IncidentMark:
    """`until` is null while it is open, `fired_at` while it is pending. `evidence`: the newest sentence, perhaps ""."""

    id: str
    cluster: str
    group: str
    topic: str
    broker: str
    rule_name: str
    measure: str
    severity: str
    status: str
    since: datetime
    fired_at: datetime | None
    until: datetime | None
    evidence: str


def incident_marks(
    *, cluster: str | None = None, group: str | None = None, since: datetime, until: datetime
) -> list[IncidentMark]:
    """Those that went on in [since, until), the newest first, at most MARKS_SHOWN. One query."""
    found = Incident.objects.filter(Q(resolved_at=None) | Q(resolved_at__gte=since), started_at__lt=until)
    if cluster:
        found = found.filter(cluster_name=cluster)
    if group:
        found = found.filter(group_name=group)
    return [
        copied(
            IncidentMark,
            incident,
            id=str(incident.pk),
            cluster=incident.cluster_name,
            group=incident.group_name,
            topic=incident.topic_name,
            broker=incident.broker_name,
            since=incident.started_at,
            until=incident.resolved_at,
            evidence=stored_words(incident.evidence),
        )
        for incident in found.order_by("-started_at", "pk")[:MARKS_SHOWN]
    ]


# Open incidents of many groups at once, for lists and heads.
SEVERITIES = list(Severity.values)

AT_ONCE = 5_000


@dataclass(frozen=True)
class OpenIncident:
    id: str
    rule_name: str
    measure: str
    topic_name: str
    severity: str
    status: str
    started_at: datetime
    evidence: str
    is_acknowledged: bool
    is_silenced: bool

    @property
    def is_firing(self) -> bool:
        return self.status == IncidentStatus.FIRING

    @property
    def is_of_group_state(self) -> bool:
        """Its evidence is what the state of the whole group says."""
        return self.measure == Measure.STATE and not self.topic_name


def open_incidents(group_ids: Collection[int]) -> dict[int, list[OpenIncident]]:
    """By the group's id, the firing and the worst first; groups without one are not in it.

    It says what the newest evaluation left: ask `why_not_evaluated` before none is called none. A query for each
    5,000 groups.
    """
    ids = list(group_ids)
    found: dict[int, list[OpenIncident]] = {}
    for start in range(0, len(ids), AT_ONCE):
        for incident in Incident.objects.filter(group__in=ids[start : start + AT_ONCE], resolved_at=None):
            assert incident.group_id is not None
            found.setdefault(incident.group_id, []).append(_row(incident))
    for incidents in found.values():
        incidents.sort(key=_worst_first)
    return found


def _worst_first(incident: OpenIncident) -> tuple[bool, int, float]:
    return not incident.is_firing, SEVERITIES.index(incident.severity), -incident.started_at.timestamp()


def _row(incident: Incident) -> OpenIncident:
    return copied(
        OpenIncident,
        incident,
        id=str(incident.pk),
        is_acknowledged=incident.acknowledged_at is not None,
        is_silenced=incident.silence_id is not None,
        evidence=stored_words(incident.evidence),
    )
