"""Alert rules: the list, and the form of one."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.edits import keep_rule, remove_rule, why_not_removed
from consumers.alerts.preview.request import why_no_history
from consumers.alerts.queries.previews import unfinished_of
from consumers.alerts.queries.settings import find_rule, rule_list
from consumers.models import AlertRule
from dashboard.pages.alerts.alert_tabs import act, alert_context, form_page
from dashboard.pages.common.access import page, problems
from dashboard.pages.common.frame import frame_of
from dashboard.pages.common.list_pages import held, held_as_seen, listed, version_shown

from .alert_forms import done, sent
from .rule_form import RuleForm, empty, stored

# One rule of alerts: added, changed, switched on or off, removed. Other pages link here with what is known already.
SWITCHES = {"on": True, "off": False}


@form_page
def alert_rule_add(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return form_shown(request, None, _prefilled(request, empty()), {})
    return _sent(request, None)


@form_page
def alert_rule(request: HttpRequest, rule: int) -> HttpResponse:
    row = rule_or_404(rule)
    if request.method != "POST":
        return form_shown(request, row, _prefilled(request, stored(row)), {})
    if request.POST.get("switch") in SWITCHES:
        switched = {"enabled": SWITCHES[request.POST["switch"]]}
        return done(
            partial(_keep, request, row, switched), partial(form_shown, request, row, RuleForm(None, stored(row)))
        )
    return _sent(request, row)


@act
def alert_rule_remove(request: HttpRequest, rule: int) -> HttpResponse:
    row = rule_or_404(rule)

    @transaction.atomic
    def remove() -> str:
        remove_rule(held(row), request.user, timezone.now())
        return reverse("alert_rules")

    return done(remove, partial(form_shown, request, row, RuleForm(None, stored(row))))


def rule_or_404(rule_id: int) -> AlertRule:
    row = AlertRule.objects.filter(pk=rule_id).first()
    if row is None:
        raise Http404(_("There is no such rule."))
    return row


def form_shown(
    request: HttpRequest, row: AlertRule | None, form: RuleForm, errors: Mapping[str, str], status: int = 200
) -> HttpResponse:
    now = timezone.now()
    # What was set on the way is not what is stored.
    kept = None if row is None else find_rule(row.pk, now)
    shown = {
        "rule": kept,
        "version": version_shown(row, form.data, errors),
        "lines": form.lines(errors),
        "errors": errors,
        "problems": problems(errors),
        "keeps": None if row is None else why_not_removed(row),
        "no_history": why_no_history(form.measure, form.value("topic") if "topic" in form.entries else ""),
        "unfinished": unfinished_of(request.user),
        **form.shown(),
    }
    return render(request, "alerts/alert_rule.html", alert_context(frame_of(request, now), **shown), status=status)


def _prefilled(request: HttpRequest, shown: dict[str, Any]) -> RuleForm:
    """What a link says in the place of what is there; `cluster` is the page's own."""
    for name, values in request.GET.lists():
        if name not in ("cluster", "range"):
            shown[name] = values if name == "states" else values[-1]
    if "of_cluster" in request.GET:
        shown["cluster"] = request.GET["of_cluster"]
    return RuleForm(None, shown)


def _sent(request: HttpRequest, row: AlertRule | None) -> HttpResponse:
    form = RuleForm(request.POST)
    shown = partial(form_shown, request, row, form)
    if request.POST.get("look") == "1":
        return shown({})
    return sent(form, partial(_keep, request, row), shown)


@transaction.atomic
def _keep(request: HttpRequest, row: AlertRule | None, fields: Mapping[str, Any]) -> str:
    keep_rule(fields, held_as_seen(row, request.POST), request.user, timezone.now())
    return reverse("alert_rules")


ROWS = 100


@page
def alert_rules(request: HttpRequest) -> HttpResponse:
    """Rules of alerts: what each looks for, of what, and what fires by it at the moment."""
    frame = frame_of(request, timezone.now())
    rows, paging = listed(frame, ROWS, lambda number: rule_list(frame.now, page=number, page_size=ROWS))
    shown: dict[str, Any] = {
        "lines": [(row, frame.to("alert_rule", str(row.id)), frame.to("alerts", rule=str(row.id))) for row in rows],
        "switched_on": AlertRule.objects.filter(enabled=True).count(),
        "add_href": frame.to("alert_rule_add"),
        **paging,
    }
    return render(request, "alerts/alert_rules.html", alert_context(frame, **shown))
