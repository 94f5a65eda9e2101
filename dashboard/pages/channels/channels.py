"""Notification channels: the list, one channel, its deliveries and its test message."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.channels.channel_kinds import CHANNEL_KINDS
from consumers.alerts.edits import keep_channel, remove_channel, send_test
from consumers.alerts.queries.deliveries import channel_deliveries
from consumers.alerts.queries.settings import channel_list, find_channel
from consumers.alerts.tasks import hand_over_channel
from consumers.jobs.asking import RedisDown
from consumers.models import AlertRule, Channel, ChannelKind, Severity
from dashboard.pages.alerts.alert_forms import sent
from dashboard.pages.alerts.alert_tabs import act, alert_context, form_page
from dashboard.pages.common.access import page, part, problems
from dashboard.pages.common.frame import Frame, frame_of
from dashboard.pages.common.list_pages import held, held_as_seen, listed, version_shown
from dashboard.pages.site.problems import UnknownFilter

from .channel_form import ChannelForm, example_of

ROWS = 50


@page
def channels(request: HttpRequest) -> HttpResponse:
    """Channels: where incidents are told, how each does, and what of them goes where."""
    frame = frame_of(request, timezone.now())
    rows, paging = listed(frame, ROWS, lambda number: channel_list(page=number, page_size=ROWS))
    shown: dict[str, Any] = {
        "lines": [(row, frame.to("channel", str(row.id))) for row in rows],
        "kinds": [(kind.label, frame.to("channel_add", kind=kind.code)) for kind in CHANNEL_KINDS.values()],
        **paging,
    }
    return render(request, "channels/channels.html", alert_context(frame, **shown))


# One channel: its form, what its templates make of the newest incident, and every message that went through it.
DELIVERY_ROWS = 30


@form_page
def channel_add(request: HttpRequest) -> HttpResponse:
    sent_fields = request.POST if request.method == "POST" else request.GET
    kind = sent_fields.get("kind", ChannelKind.WEBHOOK)
    if kind not in ChannelKind.values:
        raise UnknownFilter("kind", kind, ChannelKind.values)
    if request.method != "POST":
        return _shown(request, None, ChannelForm(kind), {})
    return _sent(request, None, kind)


@form_page
def channel(request: HttpRequest, channel: int) -> HttpResponse:
    row = channel_or_404(channel)
    if request.method != "POST":
        return _shown(request, row, ChannelForm(row.kind, row), {})
    return _sent(request, row, row.kind)


@part
def channel_part(request: HttpRequest, channel: int) -> HttpResponse:
    """What went through it."""
    frame = frame_of(request, timezone.now())
    row = channel_or_404(channel)
    return render(request, "channels/channel_part.html", alert_context(frame, **messages_of(frame, row), is_part=True))


def channel_or_404(channel_id: int) -> Channel:
    row = Channel.objects.filter(pk=channel_id).first()
    if row is None:
        raise Http404(_("There is no such channel."))
    return row


def messages_of(frame: Frame, row: Channel) -> dict[str, Any]:
    deliveries, paging = listed(
        frame, DELIVERY_ROWS, lambda number: channel_deliveries(row.pk, page=number, page_size=DELIVERY_ROWS)
    )
    return {"channel": find_channel(row.pk), "deliveries": deliveries, **paging}


def _sent(request: HttpRequest, row: Channel | None, kind: str) -> HttpResponse:
    form = ChannelForm(kind, row, request.POST)
    shown = partial(_shown, request, row, form)
    if request.POST.get("look") == "1":
        return shown(form.sentences())

    @transaction.atomic
    def keep(fields: Mapping[str, Any]) -> str:
        kept = keep_channel(fields, held_as_seen(row, request.POST), request.user, timezone.now())
        return reverse("channel", args=[kept.pk])

    return sent(form, keep, shown)


def _shown(
    request: HttpRequest, row: Channel | None, form: ChannelForm, errors: Mapping[str, str], status: int = 200
) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    # What was set on the way is not what is stored.
    row = None if row is None else channel_or_404(row.pk)
    shown: dict[str, Any] = {
        "kind": form.kind.code,
        "kinds": [
            (one.label, frame.to("channel_add", kind=one.code), one == form.kind) for one in CHANNEL_KINDS.values()
        ],
        "version": version_shown(row, form.data, errors),
        "severities": [(name, name in form.value("severities")) for name in Severity.values],
        "rules": [
            (pk, name, str(pk) in form.value("rules")) for pk, name in AlertRule.objects.values_list("pk", "name")
        ],
        "lines": form.lines(errors),
        "address": [line for name, line in form.lines(errors).items() if name in form.address],
        "errors": errors,
        "problems": problems(errors),
        "example": example_of(form, frame.now) if form.kind.has_templates else None,
    }
    if row is not None:
        shown |= messages_of(frame, row)
    return render(request, "channels/channel.html", alert_context(frame, **shown), status=status)


# Tests a channel, or removes it.
@act
def channel_test(request: HttpRequest, channel: int) -> HttpResponse:
    """Where Redis is down the message waits for the next round, as its row says."""
    row = channel_or_404(channel)
    send_test(row, request.user, timezone.now())
    with suppress(RedisDown):
        hand_over_channel(row.pk)
    return HttpResponseRedirect(reverse("channel", args=[row.pk]) + "#messages")


@act
def channel_remove(request: HttpRequest, channel: int) -> HttpResponse:
    with transaction.atomic():
        remove_channel(held(channel_or_404(channel)), request.user, timezone.now())
    return HttpResponseRedirect(reverse("channels"))
