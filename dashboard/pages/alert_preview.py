"""What a rule would have done over the past: asked for from its form. A part refreshes itself until that is known."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRefresh

from consumers.alerts.preview.ending import why_not_permitted
from consumers.alerts.preview.request import HISTORY, earliest, request_preview
from consumers.errands.redis_client import RedisDown
from consumers.models import UNFINISHED_PREVIEWS, AlertRule, Measure, PreviewStatus, RulePreview
from consumers.selectors.alerts.previews import PreviewRow, find_preview
from consumers.selectors.alerts.words import rule_words, selection_words
from consumers.tasks.previews import hand_over_preview

from .access import page, part
from .alert_access import act
from .alert_forms import sent
from .alert_rule import form_shown, rule_or_404
from .alert_rule_form import measure_of, stored, wish
from .alert_tabs import alert_context
from .frame import Frame, frame_of
from .preview_lines import preview_lines
from .problems import UnknownFilter

HOURS = ("24", "168")
LONGEST_QUERY = 4000
# By then a worker has taken it up, where one has nothing else to do.
LONG = timedelta(seconds=15)
# By then a worker that lives has ended it, in time or not.
TOO_LONG = timedelta(seconds=90)


@act
def alert_previews(request: HttpRequest) -> HttpResponse:
    said, now = request.POST, timezone.now()
    number = said.get("rule", "")
    row = rule_or_404(int(number)) if number.isascii() and number.isdecimal() and len(number) < 19 else None
    hours = said.get("hours", "")
    if hours not in HOURS:
        raise UnknownFilter("hours", hours, HOURS)
    since = _kept_since(measure_of(said), now - timedelta(hours=int(hours)), now)

    def ask(fields: Mapping[str, Any]) -> str:
        return _handed_over(request_preview(fields, since, now, request.user, now).pk)

    return sent(wish(said), ask, partial(form_shown, request, row, said))


@page
def alert_preview(request: HttpRequest, preview: UUID) -> HttpResponse:
    return render(request, "pages/alert_preview.html", preview_context(request, preview))


@part
def alert_preview_part(request: HttpRequest, preview: UUID) -> HttpResponse:
    shown = {**preview_context(request, preview), "is_part": True}
    if request.htmx and not shown["is_working"]:  # type: ignore[attr-defined]
        return HttpResponseClientRefresh()
    return render(request, "fragments/alert_preview.html", shown)


def _kept_since(measure: Measure, since: datetime, now: datetime) -> datetime:
    """No earlier than its past reaches: the page says from when on it was looked at."""
    return max(since, earliest(measure, now)) if measure in HISTORY else since


def _handed_over(preview: UUID) -> str:
    """Where Redis is down the preview has failed with that reason, which its page shows."""
    with suppress(RedisDown):
        hand_over_preview(preview)
    return reverse("alert_preview", args=[preview])


def preview_context(request: HttpRequest, preview: UUID, errors: Mapping[str, str] | None = None) -> dict[str, Any]:
    """`errors`: why what was asked of it is not done, by "", as there are no fields."""
    frame = frame_of(request, timezone.now())
    row = find_preview(preview)
    if row is None:
        raise Http404(_("There is no such preview."))
    rule = AlertRule(**row.rule)
    selected = selection_words(
        cluster=rule.cluster, group_pattern=rule.group_pattern, topic=rule.topic, labels=rule.labels
    )
    shown: dict[str, Any] = {
        "preview": row,
        "rule": rule,
        "sentence": rule_words(rule),
        "selects": selected,
        "refused": (errors or {}).get("", ""),
        "is_working": row.status in UNFINISHED_PREVIEWS,
        "may_cancel": row.status in UNFINISHED_PREVIEWS and _may_cancel(request, preview),
        "waits_long": row.status == PreviewStatus.WAITING and frame.now - row.created_at >= LONG,
        "runs_too_long": row.status == PreviewStatus.RUNNING
        and row.started_at is not None
        and frame.now - row.started_at >= TOO_LONG,
        "form_href": _form(frame, row, rule),
    }
    if row.result is not None:
        shown |= preview_lines(frame, row, row.result)
    return alert_context(frame, **shown)


def _may_cancel(request: HttpRequest, preview: UUID) -> bool:
    found = RulePreview.objects.filter(pk=preview).first()
    return found is not None and why_not_permitted(found, request.user) is None


def _form(frame: Frame, row: PreviewRow, rule: AlertRule) -> str:
    """The form with the values that were looked at: of the rule of that name, where it is kept."""
    values = stored(rule)
    said = [("of_cluster" if name == "cluster" else name, value) for name, listed in values.lists() for value in listed]
    if not rule.enabled:
        said.append(("enabled", ""))
    kept = AlertRule.objects.filter(name=rule.name).values_list("pk", flat=True).first() if rule.name else None
    address = frame.to("alert_rule", str(kept)) if kept else frame.to("alert_rule_add")
    query = urlencode([(name, value) for name, value in said if value or name not in ("note", "runbook_url")])
    return f"{address}{'&' if '?' in address else '?'}{query}" if len(query) <= LONGEST_QUERY else address
