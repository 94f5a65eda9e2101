"""One channel: its form, what its templates make of the newest incident, and every message that went through it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from consumers.alerts.edits.channels import keep_channel
from consumers.models import AlertRule, Channel, ChannelKind, Severity
from consumers.selectors.alerts.channels import find_channel
from consumers.selectors.alerts.deliveries import channel_deliveries
from dashboard.pages.alerts.alert_access import form_page
from dashboard.pages.alerts.alert_forms import sent
from dashboard.pages.alerts.alert_tabs import alert_context
from dashboard.pages.alerts.label_lines import labels_of, lines_of_labels
from dashboard.pages.common.access import part
from dashboard.pages.common.form_problems import problems
from dashboard.pages.common.frame import Frame, frame_of
from dashboard.pages.common.held_rows import held_as_seen, version_shown
from dashboard.pages.common.list_pages import listed
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.alerts import KINDS

from .channel_example import example_of

# What somebody types into the form of a channel. Secrets are never shown again: what is left empty stays as it is.

PLAIN = ("name", "cluster", "group_pattern", "title_template", "body_template")
CHECKED = ("enabled", "tells_resolved")
# By kind its own fields, all of them kept to itself by the site; and those that can be taken away.
ADDRESS: dict[str, tuple[str, ...]] = {
    ChannelKind.WEBHOOK: ("url", "secret", "headers"),
    ChannelKind.ALERTMANAGER: ("url", "username", "password", "token"),
    ChannelKind.EMAIL: ("recipients",),
    ChannelKind.APPRISE: ("url",),
}
OPTIONAL = ("headers", "username", "password", "token")
EMPTY: dict[str, Any] = {"headers": {}}
WITH_TEMPLATES = (ChannelKind.EMAIL, ChannelKind.APPRISE)
LABELS: dict[str, str | Promise] = {
    "url": gettext_lazy("Address"),
    "secret": gettext_lazy("Secret that signs messages"),
    "headers": gettext_lazy("Headers that go along"),
    "username": gettext_lazy("User name"),
    "password": gettext_lazy("Password"),
    "token": gettext_lazy("Bearer token"),
    "recipients": gettext_lazy("Recipients"),
}
HINTS: dict[tuple[str, str], str | Promise] = {
    (ChannelKind.WEBHOOK, "url"): gettext_lazy("https://… or http://…; messages are posted to it as JSON"),
    (ChannelKind.WEBHOOK, "secret"): gettext_lazy("at least 16 characters, as of: openssl rand -hex 32"),
    (ChannelKind.WEBHOOK, "headers"): gettext_lazy("X-Team: payments, one on each line"),
    (ChannelKind.ALERTMANAGER, "url"): gettext_lazy("its own address, as http://alertmanager.example.org:9093"),
    (ChannelKind.ALERTMANAGER, "username"): gettext_lazy("with a password; or a token instead"),
    (ChannelKind.ALERTMANAGER, "password"): gettext_lazy("of that user"),
    (ChannelKind.ALERTMANAGER, "token"): gettext_lazy("instead of a user"),
    (ChannelKind.EMAIL, "recipients"): gettext_lazy("addresses, one on each line"),
    (ChannelKind.APPRISE, "url"): gettext_lazy(
        "as Apprise writes it: slack://…, dingtalk://…, feishu://…, pagerduty://…"
    ),
}
TEMPLATE_HINTS: dict[str, str | Promise] = {
    "title": gettext_lazy(
        "empty: the site's own; as {{ rule.name }}, {{ count }}, {{ events.0.incident.subject.title }}"
    ),
    "body": gettext_lazy("empty: the site's own; as {% for event in events %}{{ event.sentence }}{% endfor %}"),
}
PRIVATE = ("secret", "password", "token")
NOT_SHOWN = (*PRIVATE, "headers")


def empty(kind: str) -> QueryDict:
    """The form of a channel that there is not yet."""
    said = QueryDict(mutable=True)
    said.update({"kind": kind, "enabled": "1", "tells_resolved": "1"})
    return said


def stored(channel: Channel) -> QueryDict:
    """The form of a channel as it is, without what is sealed."""
    said = QueryDict(mutable=True)
    said.update({name: getattr(channel, name) for name in (*PLAIN, "kind")})
    said.update({name: "1" for name in CHECKED if getattr(channel, name)})
    said["labels"] = lines_of_labels(channel.labels)
    said.setlist("severities", channel.severities)
    said.setlist("rules", [str(rule.pk) for rule in channel.rules.all()])
    return said


def wish(said: QueryDict, kind: str, *, is_there: bool) -> tuple[dict[str, Any], dict[str, str]]:
    """The fields of a channel, and a sentence for each that cannot be read. `is_there`: it is stored already."""
    fields: dict[str, Any] = {name: said.get(name, "").strip() for name in PLAIN}
    # A browser sends the ends of lines as two characters.
    fields["body_template"] = said.get("body_template", "").replace("\r\n", "\n")
    fields |= {name: said.get(name) == "1" for name in CHECKED}
    fields |= {"kind": kind, "severities": said.getlist("severities")}
    errors: dict[str, str] = {}
    _read(fields, errors, "rules", lambda: [_number(text) for text in said.getlist("rules")])
    _read(fields, errors, "labels", lambda: labels_of(said.get("labels", "")))
    for name in ADDRESS[kind]:
        typed = said.get(name, "")
        if name in OPTIONAL and name in said.getlist("forget"):
            fields[name] = EMPTY.get(name, "")
        elif typed.strip() or not (is_there or name in OPTIONAL):
            _read(fields, errors, name, partial(READERS.get(name, str.strip), typed))
    return fields, errors


def address_lines(
    kind: str, said: Mapping[str, str], errors: Mapping[str, str], *, is_there: bool
) -> list[dict[str, Any]]:
    """What the template needs of each field of the kind. What was typed stays, but for secrets."""
    again = _("Type it again: what was typed is not shown.")
    kept, perhaps = _("set, and not shown; leave empty to keep it"), _("not shown, if set; leave empty to keep it")
    return [
        {
            "name": name,
            "label": LABELS[name],
            "hint": f"{HINTS[kind, name]} · {perhaps if name in OPTIONAL else kept}" if is_there else HINTS[kind, name],
            "type": "password" if name in PRIVATE else "text",
            "lines": 3 if name in ("headers", "recipients") else 0,
            "value": "" if name in NOT_SHOWN else said.get(name, ""),
            "error": errors.get(name, "") or (again if name in NOT_SHOWN and said.get(name) else ""),
            "can_forget": is_there and name in OPTIONAL,
        }
        for name in ADDRESS[kind]
    ]


def _read(fields: dict[str, Any], errors: dict[str, str], name: str, read: Callable[[], Any]) -> None:
    try:
        fields[name] = read()
    except ValueError as wrong:
        errors[name] = str(wrong)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        raise ValueError(_("“%s” is no number of a rule.") % text)
    return int(text)


def _headers(text: str) -> dict[str, str]:
    found = {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        name, colon, value = (piece.strip() for piece in line.partition(":"))
        if not colon:
            # The line may hold a secret: it is not repeated.
            raise ValueError(_("A line of the headers has no colon: write X-Team: payments, one on each line."))
        found[name] = value
    return found


def _recipients(text: str) -> list[str]:
    return [one for one in (piece.strip() for piece in text.replace(",", "\n").splitlines()) if one]


READERS: dict[str, Callable[[str], Any]] = {"headers": _headers, "recipients": _recipients}


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
    return render(request, "channels/channel_part.html", alert_context(frame, **told_by(frame, row), is_part=True))


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
    return render(request, "channels/channel.html", alert_context(frame, **shown), status=status)
