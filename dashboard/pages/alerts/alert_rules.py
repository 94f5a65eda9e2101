"""Rules of alerts: what each looks for, of what, and what fires by it at the moment."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from consumers.alerts.queries.settings import rule_list
from consumers.models import AlertRule
from dashboard.pages.common.access import page
from dashboard.pages.common.frame import frame_of
from dashboard.pages.common.list_pages import listed

from .alert_tabs import alert_context

ROWS = 100


@page
def alert_rules(request: HttpRequest) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    rows, paging = listed(frame, ROWS, lambda number: rule_list(frame.now, page=number, page_size=ROWS))
    shown: dict[str, Any] = {
        "lines": [(row, frame.to("alert_rule", str(row.id)), frame.to("alerts", rule=str(row.id))) for row in rows],
        "switched_on": AlertRule.objects.filter(enabled=True).count(),
        "add_href": frame.to("alert_rule_add"),
        **paging,
    }
    return render(request, "alerts/alert_rules.html", alert_context(frame, **shown))
