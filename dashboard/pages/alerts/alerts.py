"""Incidents: what fires, the worst first; what may fire soon; and what fired within the page's range."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.edits import acknowledge, unacknowledge
from consumers.alerts.fields import MAY_MANAGE, AlertRefused
from consumers.alerts.queries.incidents import (
    IncidentFilters,
    and_not_now,
    incident_detail,
    incident_list,
    why_incomplete,
)
from consumers.alerts.queries.rows import IncidentDetail, IncidentRow
from consumers.alerts.queries.words import number_words
from consumers.jobs.permissions import why_not
from consumers.models import AlertRule, Incident, IncidentStatus, Severity
from consumers.queries.codes import SEVERITIES
from consumers.queries.groups import find_group
from consumers.queries.windows import finest_retained, step_for
from consumers.words.alerts import rule_name_words
from consumers.words.spans import when
from consumers.words.times import read_time
from dashboard.figures.plotly_files import PATH
from dashboard.pages.common.figures import lag_figure
from dashboard.pages.common.frame import Choice, Frame, frame_of, page, problems, refreshing, with_charts
from dashboard.pages.common.list_pages import listed, whole_number
from dashboard.pages.common.moments import LABELS, Range
from dashboard.pages.site.problems import UnknownFilter

from .alert_forms import Done, alert_context, cluster_act, done
from .preview_pictures import incident_spans
from .silences import CHOICES

FIRING_SHOWN, PENDING_SHOWN, ROWS = 50, 25, 25

Lines = list[tuple[IncidentRow, str]]


def alerts_context(request: HttpRequest) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    filters = filters_of(frame)
    firing, paging = listed(
        frame, FIRING_SHOWN, lambda number: _open(frame, filters, IncidentStatus.FIRING, FIRING_SHOWN, number), "firing"
    )
    pending, pending_count = _open(frame, filters, IncidentStatus.PENDING, PENDING_SHOWN)
    return alert_context(
        frame,
        firing=firing,
        firing_paging=paging,
        pending=pending,
        pending_count=pending_count,
        group=filters.group or "",
        rule=filters.rule,
        severity=filters.severity or "",
        rules=[(pk, rule_name_words(name)) for pk, name in AlertRule.objects.values_list("pk", "name")],
        severity_choices=_severities(frame, filters),
        is_filtered=bool(filters.group or filters.rule or filters.severity),
        every=frame.here(group=None, rule=None, severity=None),
        **_past(frame, filters),
    )


alerts, alerts_part = refreshing("alerts/alerts.html", "alerts/alerts_part.html", alerts_context)


def filters_of(frame: Frame) -> IncidentFilters:
    """Of any status and time."""
    given = frame.request.GET.get
    severity, rule = given("severity", ""), given("rule", "")
    if severity and severity not in Severity.values:
        raise UnknownFilter("severity", severity, Severity.values)
    if rule and whole_number(rule) is None:
        raise UnknownFilter("rule", rule, [_("the number of a rule")])
    return IncidentFilters(
        severity=Severity(severity) if severity else None,
        cluster=frame.cluster,
        group=given("group", "").strip() or None,
        rule=whole_number(rule),
    )


def lines_of(frame: Frame, rows: list[IncidentRow]) -> Lines:
    return [(row, frame.to("incident", row.id)) for row in rows]


def _open(
    frame: Frame, filters: IncidentFilters, status: IncidentStatus, size: int, page: int = 1
) -> tuple[Lines, int]:
    wanted = replace(filters, statuses=(status,), ordering="severity")
    rows, count = incident_list(wanted, frame.now, page=page, page_size=size)
    return lines_of(frame, rows), count


def _past(frame: Frame, filters: IncidentFilters) -> dict[str, Any]:
    shown = frame.range
    wanted = replace(
        filters, statuses=(IncidentStatus.RESOLVED,), since=shown.since, until=shown.until, ordering="-resolved_at"
    )
    rows, paging = listed(frame, ROWS, lambda number: incident_list(wanted, frame.now, page=number, page_size=ROWS))
    longest = list(LABELS)[-1]
    return {
        "past": lines_of(frame, rows),
        "why_incomplete": and_not_now(why_incomplete(wanted, frame.now), frame.now),
        **paging,
        "longer": frame.here(range=longest) if shown.name != longest else "",
        "longest": LABELS[longest],
    }


def _severities(frame: Frame, filters: IncidentFilters) -> list[Choice]:
    every = Choice(_("all"), frame.here(severity=None), filters.severity is None)
    return [
        every,
        *(Choice(str(word), frame.here(severity=name), name == filters.severity) for name, word in SEVERITIES.items()),
    ]


# One incident, and what people do with it.

# One incident: what was found, for how long, what was done with it, and who was told. With the lag around it.
NONE: Mapping[str, str] = MappingProxyType({})

BESIDE, LONG_BESIDE = timedelta(minutes=20), timedelta(hours=3)

# A chart of more minutes than this is drawn in windows of ten.
LONG = timedelta(hours=12)


@page
def incident_figure(request: HttpRequest, incident: UUID) -> HttpResponse:
    now = timezone.now()
    row = found_or_404(incident, now)
    cluster, group = row.subject.cluster, row.subject.group
    if cluster is None or group is None:
        raise Http404(_("This incident is not about a group: it has no lag."))
    shown, step = range_around(row, now)
    return JsonResponse(lag_figure(cluster, group, shown, now, incident_spans(cluster, group, shown), step))


def incident_context(
    request: HttpRequest, incident_id: UUID, errors: Mapping[str, str] = NONE, said: str = ""
) -> dict[str, Any]:
    """`errors`: why it was not acknowledged; `said`: what was typed for that."""
    frame = frame_of(request, timezone.now())
    row = found_or_404(incident_id, frame.now)
    has_group, silence = _has_group(row), _silence_of(row)
    return alert_context(
        frame,
        against=why_not(request.user, MAY_MANAGE, row.subject.cluster or ""),
        incident=row,
        group_href=frame.group(row.subject.cluster or "", row.subject.group or "") if has_group else "",
        has_chart=has_group,
        others_href=_others(frame, row),
        groups=[(name, frame.group(name.cluster, name.group)) for name in row.groups],
        errors=errors,
        problems=problems(errors),
        said=said,
        worst="" if row.worst_value is None else number_words(row.measure, row.worst_value),
        rule_href=rule_href(frame, row),
        channels_href=frame.to("channels"),
        silence=silence,
        silence_href=frame.to("silences", **_registered(frame, dict(silence))),
        lengths=CHOICES,
        plotly=static(PATH),
    )


incident, incident_part = refreshing(
    "notifications/incident.html", "notifications/incident_part.html", incident_context, charts=True
)


def found_or_404(incident_id: UUID, now: datetime) -> IncidentDetail:
    row = incident_detail(incident_id, now)
    if row is None:
        raise Http404(_("There is no such incident."))
    return row


def range_around(row: IncidentDetail, now: datetime) -> tuple[Range, int]:
    """In windows of a minute; of longer ones where those are not kept any more, or would be too many."""
    end = row.resolved_at or now
    length, finest = end - row.started_at, finest_retained(row.started_at, now)
    is_long = finest > 60 or length > LONG
    margin = LONG_BESIDE if is_long else BESIDE
    shown = Range("", row.started_at - margin, min(now, end + margin))
    return shown, max(600, finest, step_for(length)) if is_long else 60


def rule_href(frame: Frame, row: IncidentDetail) -> str:
    return "" if row.rule is None else frame.to("alert_rule", str(row.rule))


def _silence_of(row: IncidentDetail) -> list[tuple[str, str]]:
    """The narrowest that there is: this rule, on what the incident is of. A broker is silenced with its cluster."""
    subject = row.subject
    fields = {"cluster": subject.cluster, "group_pattern": subject.group, "topic": subject.topic, "rule": row.rule}
    return [(name, str(value)) for name, value in fields.items() if value is not None]


def _has_group(row: IncidentDetail) -> bool:
    cluster, group = row.subject.cluster, row.subject.group
    return cluster is not None and group is not None and find_group(cluster, group) is not None


def _others(frame: Frame, row: IncidentDetail) -> str:
    """The incidents of the same group or cluster, of the last week."""
    wanted = {"cluster": row.subject.cluster, "group": row.subject.group}
    named = {name: value for name, value in wanted.items() if value is not None}
    return frame.to("alerts", **_registered(frame, named), range="7d")


def _registered(frame: Frame, fields: dict[str, str]) -> dict[str, str]:
    """No page can be of a cluster that is not registered any more."""
    names = {cluster.name for cluster in frame.clusters}
    return {name: value for name, value in fields.items() if name != "cluster" or value in names}


@with_charts
@cluster_act
def incident_acknowledge(request: HttpRequest, incident: UUID) -> HttpResponse:
    """Acknowledges an incident, or takes that back, and shows its page again: with the reason of a refusal."""
    row = Incident.objects.filter(pk=incident).first()
    if row is None:
        raise Http404(_("There is no such incident."))
    text = request.POST.get("text", "").strip()

    @transaction.atomic
    def keep() -> Done:
        _check_seen(request, row)
        if request.POST.get("take_back") == "1":
            unacknowledge(row, request.user, timezone.now())
        else:
            acknowledge(row, request.user, text, timezone.now())
        return Done(reverse("incident", args=[row.pk]))

    def shown(errors: Mapping[str, str], status: int = 200) -> HttpResponse:
        return render(
            request, "notifications/incident.html", incident_context(request, incident, errors, text), status=status
        )

    return done(request, keep, shown)


def _check_seen(request: HttpRequest, row: Incident) -> None:
    """Raises AlertRefused where somebody else acknowledged it since the page was opened, which nobody has seen then."""
    found = Incident.objects.select_for_update().filter(pk=row.pk).first()
    seen = request.POST.get("seen")
    if found is None or found.acknowledged_at is None or seen is None or read_time(seen) == found.acknowledged_at:
        return
    if found.acknowledged_by_name != request.user.get_username():
        words = {"by": found.acknowledged_by_name, "at": when(found.acknowledged_at)}
        sentence = _(
            "%(by)s acknowledged the incident at %(at)s, while this page was open. Submit again to replace that "
            "acknowledgement."
        )
        raise AlertRefused(sentence % words)
