"""One channel: its form, what its templates make of the newest incident, and every message that went through it."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.edits.channels import keep_channel
from consumers.models import AlertRule, Channel, ChannelKind, Severity
from consumers.selectors.alerts.channels import find_channel
from consumers.selectors.alerts.deliveries import channel_deliveries
from dashboard.wording.alerts import KINDS

from .access import part
from .alert_access import form_page
from .alert_forms import sent
from .alert_tabs import alert_context
from .channel_example import example_of
from .channel_form import TEMPLATE_HINTS, WITH_TEMPLATES, address_lines, empty, stored, wish
from .form_problems import problems
from .frame import Frame, frame_of
from .held_rows import held_as_seen, version_shown
from .list_pages import listed
from .problems import UnknownFilter

ROWS = 30


@form_page
def channel_add(request: HttpRequest) -> HttpResponse:
    said = request.POST if request.method == "POST" else request.GET
    kind = said.get("kind", ChannelKind.WEBHOOK)
    if kind not in ChannelKind.values:
        raise UnknownFilter("kind", kind, ChannelKind.values)
    if request.method != "POST":
        return _shown(request, None, empty(kind), {})
    return _sent(request, None, kind)


@form_page
def channel(request: HttpRequest, channel: int) -> HttpResponse:
    row = channel_or_404(channel)
    if request.method != "POST":
        return _shown(request, row, stored(row), {})
    return _sent(request, row, row.kind)


@part
def channel_part(request: HttpRequest, channel: int) -> HttpResponse:
    """What went through it."""
    frame = frame_of(request, timezone.now())
    row = channel_or_404(channel)
    return render(request, "fragments/channel.html", alert_context(frame, **told_by(frame, row), is_part=True))


def channel_or_404(channel_id: int) -> Channel:
    row = Channel.objects.filter(pk=channel_id).first()
    if row is None:
        raise Http404(_("There is no such channel."))
    return row


def told_by(frame: Frame, row: Channel) -> dict[str, Any]:
    deliveries, paging = listed(frame, ROWS, lambda number: channel_deliveries(row.pk, page=number, page_size=ROWS))
    return {"channel": find_channel(row.pk), "deliveries": deliveries, **paging}


def _sent(request: HttpRequest, row: Channel | None, kind: str) -> HttpResponse:
    typed, shown = wish(request.POST, kind, is_there=row is not None), partial(_shown, request, row, request.POST)
    if request.POST.get("look") == "1":
        return shown(typed[1])

    @transaction.atomic
    def keep(fields: Mapping[str, Any]) -> str:
        kept = keep_channel(fields, held_as_seen(row, request.POST), request.user, timezone.now())
        return reverse("channel", args=[kept.pk])

    return sent(typed, keep, shown)


def _shown(
    request: HttpRequest, row: Channel | None, said: QueryDict, errors: Mapping[str, str], status: int = 200
) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    # What was set on the way is not what is stored.
    row = None if row is None else channel_or_404(row.pk)
    kind = said.get("kind") or (row.kind if row else ChannelKind.WEBHOOK)
    has_templates = kind in WITH_TEMPLATES
    shown: dict[str, Any] = {
        "kind": kind,
        "kinds": [(KINDS[one], frame.to("channel_add", kind=one), one == kind) for one in ChannelKind],
        "said": said,
        "version": version_shown(row, said, errors),
        "severities": [(name, name in said.getlist("severities")) for name in Severity.values],
        "rules": [
            (pk, name, str(pk) in said.getlist("rules")) for pk, name in AlertRule.objects.values_list("pk", "name")
        ],
        "address": address_lines(kind, said, errors, is_there=row is not None),
        "errors": errors,
        "problems": problems(errors),
        "has_templates": has_templates,
        "template_hints": TEMPLATE_HINTS,
        "example": example_of(kind, said, frame.now) if has_templates else None,
    }
    if row is not None:
        shown |= told_by(frame, row)
    return render(request, "pages/channel.html", alert_context(frame, **shown), status=status)
