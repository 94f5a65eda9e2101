"""Notification channels: the list, one channel, its deliveries and its test message."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, override

from consumers.alerts.channels.channel_settings import CHANNEL_FIELDS, TEMPLATES
from consumers.alerts.channels.payload import payload_of
from consumers.alerts.channels.receiver import CHANNEL_KINDS, kind_of
from consumers.alerts.channels.render import Rendered, render as render_message, sample_payload
from consumers.alerts.edits import remove_channel, save_channel, send_test
from consumers.alerts.fields import MAY_MANAGE, EntryField, Shape
from consumers.alerts.queries.deliveries import channel_deliveries
from consumers.alerts.queries.settings import channel_list, find_channel
from consumers.alerts.tasks import enqueue_channel
from consumers.jobs.asking import RedisDown
from consumers.jobs.permissions import check
from consumers.models import AlertRule, Channel, ChannelKind, IncidentEvent, IncidentEventKind, Severity
from consumers.queries.codes import SEVERITIES
from consumers.words.alerts import rule_name_words
from consumers.words.reasons import stored_words
from dashboard.pages.common.frame import Frame, frame_of, page, part, problems, row_or_404
from dashboard.pages.common.list_pages import held, held_as_seen, listed, version_shown
from dashboard.pages.common.removal import Removal, removal
from dashboard.pages.site.problems import UnknownFilter

from .alert_forms import AlertForm, Done, act, alert_context, form_page, sent

# The form of a channel, of the fields that its kind declares, and what its templates make of the newest incident.
#
# Secrets are never shown again: an address that is left empty stays as it is.

# Lines that a template is shown with.
ROWS_OF = {"title_template": 2, "body_template": 8}


class ChannelForm(AlertForm):
    """`row`: the channel that is stored already. `address`: the fields of its kind, none of which is shown again."""

    def __init__(self, kind: str, row: Channel | None = None, data: QueryDict | None = None) -> None:
        self.kind, self.row = kind_of(kind), row
        self.address = {field.name: field for field in self.kind.fields}
        columns = [one for one in CHANNEL_FIELDS if self.kind.has_templates or one.name not in TEMPLATES]
        super().__init__([*columns, *self.kind.fields], data, _stored(row))
        for name in ROWS_OF.keys() & self.fields.keys():
            self.fields[name].widget.attrs["rows"] = ROWS_OF[name]

    def entered(self) -> dict[str, Any]:
        """Returns the entered values without those that stay as they are stored."""
        fields = {name: value for name, value in self.cleaned_data.items() if name not in self.address}
        typed = QueryDict() if not isinstance(self.data, QueryDict) else self.data
        for name, entry in self.address.items():
            if not entry.is_required and name in typed.getlist("forget"):
                fields[name] = entry.default
            elif typed.get(name, "").strip() or (entry.is_required and self.row is None):
                fields[name] = self.cleaned_data[name]
        return {**fields, "kind": self.kind.code}

    def line(self, entry: EntryField, error: str) -> dict[str, Any]:
        line = super().line(entry, error)
        if entry.name not in self.address:
            return line
        if self.row is not None:
            kept, perhaps = (
                _("set, hidden; leave empty to keep the value"),
                _("hidden if set; leave empty to keep the value"),
            )
            line["hint"] = f"{line['hint']} · {kept if entry.is_required else perhaps}"
        if entry.made is not None and self.row is None and not self.is_bound:
            hint = _("made for you: copy it to the receiver now, it is not shown again")
            line |= {"value": entry.made(), "type": "text", "hint": f"{line['hint']} · {hint}"}
        if entry.is_secret and self.data.get(entry.name) and not error:
            line["error"] = _("Enter the value again: the previous input is not shown.")
        return line | {"can_forget": self.row is not None and not entry.is_required}


def _stored(row: Channel | None) -> Mapping[str, Any]:
    if row is None:
        return {"enabled": True, "tells_resolved": True}
    stored = {entry.name: getattr(row, entry.name) for entry in CHANNEL_FIELDS if entry.shape != Shape.IDS}
    return {**stored, "rules": [rule.pk for rule in row.rules.all()]}


NO_DELIVERY = UUID(int=0)


@dataclass(frozen=True)
class Example:
    """`of`: what it is made of, in words."""

    of: str
    rendered: Rendered

    @property
    def note(self) -> str | None:
        """Why a template was not used, in the language of the page."""
        return stored_words(self.rendered.note)


def example_of(form: ChannelForm, now: datetime) -> Example:
    fired = IncidentEvent.objects.filter(kind=IncidentEventKind.FIRING)
    event = fired.select_related("incident__rule").order_by("-at", "-pk").first()
    of = _("a test, because nothing has fired yet") if event is None else _("the last incident that fired")
    # Workers write messages, whose language and clock are none of who looks.
    with override(settings.LANGUAGE_CODE), timezone.override(UTC):
        return Example(of, _rendered(form, event, now))


def _rendered(form: ChannelForm, event: IncidentEvent | None, now: datetime) -> Rendered:
    channel = Channel(
        name=form.value("name") or _("this channel"),
        kind=form.kind.code,
        title_template=form.value("title_template"),
        body_template=form.value("body_template").replace("\r\n", "\n"),
    )
    payload = (
        sample_payload(NO_DELIVERY, 1, channel, _("somebody"), now)
        if event is None
        else payload_of(NO_DELIVERY, 1, channel, event.incident.rule, [event])
    )
    return render_message(payload, channel, settings.ALERT_NAMED_IN_MESSAGE)


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
    return render(request, "notifications/channels.html", alert_context(frame, **shown))


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
    return render(
        request, "notifications/channel_part.html", alert_context(frame, **messages_of(frame, row), is_part=True)
    )


def channel_or_404(channel_id: int) -> Channel:
    return row_or_404(Channel, channel_id, _("There is no such channel."))


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
    def keep(fields: Mapping[str, Any]) -> Done:
        saved = save_channel(fields, held_as_seen(row, request.POST), request.user, timezone.now())
        sentence = _("Saved the channel %(name)s.") if row else _("Added the channel %(name)s.")
        return Done(reverse("channel", args=[saved.pk]), sentence % {"name": saved.name})

    return sent(request, form, keep, shown)


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
        "severities": [(one.value, SEVERITIES[one], one.value in form.value("severities")) for one in Severity],
        "rules": [
            (pk, rule_name_words(name), str(pk) in form.value("rules"))
            for pk, name in AlertRule.objects.values_list("pk", "name")
        ],
        "lines": form.lines(errors),
        "address": [line for name, line in form.lines(errors).items() if name in form.address],
        "errors": errors,
        "problems": problems(errors),
        "example": example_of(form, frame.now) if form.kind.has_templates else None,
    }
    if row is not None:
        shown |= messages_of(frame, row)
    return render(request, "notifications/channel.html", alert_context(frame, **shown), status=status)


# Tests a channel, or removes it.
@act
def channel_test(request: HttpRequest, channel: int) -> HttpResponse:
    """Where Redis is down the message waits for the next round, as its row says."""
    row = channel_or_404(channel)
    send_test(row, request.user, timezone.now())
    with suppress(RedisDown):
        enqueue_channel(row.pk)
    return HttpResponseRedirect(reverse("channel", args=[row.pk]) + "#messages")


@removal
def channel_remove(request: HttpRequest, channel: int) -> Removal:
    row = channel_or_404(channel)
    check(request.user, MAY_MANAGE, "")
    return Removal(
        title=_("Remove the channel %(name)s?") % {"name": row.name},
        effect=_("Its messages are removed with it. Waiting ones are not sent."),
        label=_("Remove the channel"),
        done=_("Removed the channel %(name)s.") % {"name": row.name},
        back=reverse("channel", args=[channel]),
        after=reverse("channels"),
        remove=lambda: remove_channel(held(row), request.user, timezone.now()),
    )
