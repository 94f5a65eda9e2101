"""Channels: where incidents are told, how each does, and what of them goes where."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from consumers.models import ChannelKind
from consumers.selectors.alerts.channels import channel_list
from dashboard.wording.alerts import KINDS

from .access import page
from .alert_tabs import alert_context
from .frame import frame_of
from .groups_query import page_links, page_number

ROWS = 50


@page
def channels(request: HttpRequest) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    number = page_number(request)
    rows, count = channel_list(page=number, page_size=ROWS)
    first = (number - 1) * ROWS
    shown: dict[str, Any] = {
        "lines": [(row, frame.to("channel", str(row.id))) for row in rows],
        "kinds": [(KINDS[kind], frame.to("channel_add", kind=kind)) for kind in ChannelKind],
        "links": page_links(frame, number, max(1, -(-count // ROWS))),
        "count_of_all": count,
        "first": first + 1,
        "last": first + len(rows),
    }
    return render(request, "pages/channels.html", alert_context(frame, **shown))
