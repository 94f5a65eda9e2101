"""Channels: where incidents are told, how each does, and what of them goes where."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from consumers.alerts.channels.channel_kinds import CHANNEL_KINDS
from consumers.alerts.queries.settings import channel_list
from dashboard.pages.alerts.alert_tabs import alert_context
from dashboard.pages.common.access import page
from dashboard.pages.common.frame import frame_of
from dashboard.pages.common.list_pages import listed

ROWS = 50


@page
def channels(request: HttpRequest) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    rows, paging = listed(frame, ROWS, lambda number: channel_list(page=number, page_size=ROWS))
    shown: dict[str, Any] = {
        "lines": [(row, frame.to("channel", str(row.id))) for row in rows],
        "kinds": [(kind.label, frame.to("channel_add", kind=kind.code)) for kind in CHANNEL_KINDS.values()],
        **paging,
    }
    return render(request, "channels/channels.html", alert_context(frame, **shown))
