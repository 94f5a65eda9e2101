"""Incidents: what fires, the worst first; what may fire soon; and what fired within the page's range."""

from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.queries.incidents import IncidentFilters, incident_list
from consumers.alerts.queries.rows import IncidentRow
from consumers.models import AlertRule, IncidentStatus, Severity
from dashboard.pages.common.access import page, part
from dashboard.pages.common.frame import Choice, Frame, frame_of
from dashboard.pages.common.list_pages import listed
from dashboard.pages.common.ranges import LABELS
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.alerts import SEVERITIES

from .alert_tabs import alert_context

FIRING_SHOWN, PENDING_SHOWN, ROWS = 50, 25, 25

Lines = list[tuple[IncidentRow, str]]


@page
def alerts(request: HttpRequest) -> HttpResponse:
    return render(request, "alerts/alerts.html", alerts_context(request))


@part
def alerts_part(request: HttpRequest) -> HttpResponse:
    return render(request, "alerts/alerts_part.html", {**alerts_context(request), "is_part": True})


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
        rules=AlertRule.objects.values_list("pk", "name"),
        severity_choices=_severities(frame, filters),
        is_filtered=bool(filters.group or filters.rule or filters.severity),
        every=frame.here(group=None, rule=None, severity=None),
        **_past(frame, filters),
    )


def filters_of(frame: Frame) -> IncidentFilters:
    """Of any status and time."""
    said = frame.request.GET.get
    severity, rule = said("severity", ""), said("rule", "")
    if severity and severity not in Severity.values:
        raise UnknownFilter("severity", severity, Severity.values)
    if rule and not (rule.isascii() and rule.isdecimal() and len(rule) < 19):
        raise UnknownFilter("rule", rule, [_("the number of a rule")])
    return IncidentFilters(
        severity=Severity(severity) if severity else None,
        cluster=frame.cluster,
        group=said("group", "").strip() or None,
        rule=int(rule) if rule else None,
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
    wanted = replace(filters, statuses=(IncidentStatus.RESOLVED,), since=shown.since, ordering="-resolved_at")
    rows, paging = listed(frame, ROWS, lambda number: incident_list(wanted, frame.now, page=number, page_size=ROWS))
    longest = list(LABELS)[-1]
    return {
        "past": lines_of(frame, rows),
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
