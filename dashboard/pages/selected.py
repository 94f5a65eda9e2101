"""Groups that somebody selected: compared on one chart, silenced, exported, or planned to be reset, all at once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, QueryDict
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from consumers.alerts.fields import MAY_MANAGE
from consumers.alerts.silences import make
from consumers.groups.listing import group_list
from consumers.groups.rows import GroupFilters, GroupRow, group_places
from consumers.jobs.permissions import check, check_somewhere, why_not
from consumers.models import ConsumerGroup, Reset, ResetKind
from consumers.resets.request import MAY_RESET, request_plan, why_not_planned
from consumers.resets.reset_targets import OFFERED, ResetTarget
from consumers.resets.target_values import ResetRefused
from dashboard.figures.layout import beginning
from dashboard.figures.plotly_files import PATH
from dashboard.pages.common.figures import MESSAGES, compared_lag, on_scale
from dashboard.pages.common.frame import Frame, context, form_page, frame_of, page, problems, with_charts
from dashboard.pages.reset_plan import ResetForm, ask_for_plan, asker_of, form_problems, kind_lines

from .alerts.alert_forms import Done, cluster_form_page, sent
from .alerts.silences import CHOICES, SilenceForm
from .site.problems import WrongQuery

DRAWN = 8
# One offset, or a list of them, is of the queues of one group.
TARGETS: dict[ResetKind, ResetTarget] = {
    kind: target for kind, target in OFFERED.items() if kind not in (ResetKind.OFFSET, ResetKind.OFFSETS)
}


@dataclass(frozen=True)
class Selection:
    """`missing`: names of the address that no group has."""

    rows: list[GroupRow]
    missing: list[str]

    @property
    def against(self) -> str:
        """Why nothing can be done with all of it."""
        if self.missing:
            return _("There is no group %(name)s.") % {"name": self.missing[0]}
        return "" if self.rows else _("No group is selected.")

    @property
    def names(self) -> list[str]:
        return [f"{row.cluster}/{row.group}" for row in self.rows]


def selection_of(query: QueryDict, now: datetime) -> Selection:
    """Of `group`: CLUSTER/GROUP, each once, most lag first. Raises WrongQuery."""
    try:
        places = group_places(query.getlist("group"))
    except ValueError as wrong:
        raise WrongQuery(str(wrong)) from None
    rows = list(group_list(GroupFilters(names=places, ordering="-lag_messages"), now=now).rows)
    known = {(row.cluster, row.group) for row in rows}
    return Selection(rows, [f"{cluster}/{group}" for cluster, group in places if (cluster, group) not in known])


@with_charts
@page
def selected(request: HttpRequest) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    found = selection_of(request.GET, frame.now)
    query = urlencode([*frame.kept_fields, *(("group", name) for name in found.names)])
    shown = {
        "lines": [(row, frame.group(row.cluster, row.group)) for row in found.rows],
        "drawn": min(len(found.rows), DRAWN),
        "query": query,
        "figure_query": f"?{query}",
        "csv_query": urlencode({"groups": ",".join(found.names), "format": "csv"}),
        "plotly": static(PATH),
    }
    return render(request, "groups/selected/selected.html", _context(frame, found, **shown))


@page
def selected_lag(request: HttpRequest) -> HttpResponse:
    """The lag of those with the most of it, as JSON for the browser to draw."""
    frame = frame_of(request, timezone.now())
    rows = selection_of(request.GET, frame.now).rows[:DRAWN]
    drawn = beginning(compared_lag(frame, rows), frame.collected.collected_since, frame.now)
    return JsonResponse(on_scale(request, drawn, MESSAGES))


@cluster_form_page
def selected_silence(request: HttpRequest) -> HttpResponse:
    """One silence for each group, or none at all."""
    now = timezone.now()
    found = selection_of(request.POST if request.method == "POST" else request.GET, now)
    if request.method != "POST":
        return _silence_shown(request, found, SilenceForm(now), {})
    form = SilenceForm(now, request.POST)
    if found.against:
        return _silence_shown(request, found, form, {"": found.against}, status=409)

    @transaction.atomic
    def keep(fields: Mapping[str, Any]) -> Done:
        for row in found.rows:
            make(dict(fields) | {"cluster": row.cluster, "group_pattern": row.group}, request.user, now)
        count = len(found.rows)
        sentence = ngettext("Silenced %(count)d group.", "Silenced %(count)d groups.", count)
        return Done(reverse("silences"), sentence % {"count": count})

    return sent(request, form, keep, partial(_silence_shown, request, found, form))


def _silence_shown(
    request: HttpRequest, found: Selection, form: SilenceForm, errors: Mapping[str, str], status: int = 200
) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    shown = {
        "lines": form.lines(errors),
        "length": form.length,
        "lengths": CHOICES,
        "errors": errors,
        "problems": problems(errors),
        "against": next(_missing_roles(request, MAY_MANAGE, found.rows), None),
    }
    return render(request, "groups/selected/silence.html", _context(frame, found, **shown), status=status)


@form_page
def selected_plan(request: HttpRequest) -> HttpResponse:
    """One plan for each group, or none at all."""
    now = timezone.now()
    if request.method != "POST":
        return _plan_shown(request, selection_of(request.GET, now), ResetForm(now, targets=TARGETS))
    check_somewhere(request.user, MAY_RESET)
    found, form = selection_of(request.POST, now), ResetForm(now, request.POST, targets=TARGETS)
    if found.against:
        return _plan_shown(request, found, form, refusal=found.against, status=409)
    for row in found.rows:
        check(request.user, MAY_RESET, row.cluster)
    if not form.is_valid():
        return _plan_shown(request, found, form, status=400)
    made: list[Reset] = []
    try:
        with transaction.atomic():
            for row in found.rows:
                made.append(request_plan(row.cluster, row.group, form.requested(), asker_of(request), now))
    except ResetRefused as refusal:
        refused = f"{found.rows[len(made)].group}: {refusal}"
        return _plan_shown(request, found, form, refusal=refused, status=409)
    for reset in made:
        ask_for_plan(reset)
    return HttpResponseRedirect(reverse("resets"))


def _plan_shown(
    request: HttpRequest, found: Selection, form: ResetForm, refusal: str = "", status: int = 200
) -> HttpResponse:
    shown = {
        "form": form,
        "kinds": kind_lines(form),
        "reason": form["reason"].value() or "",
        "clip": form["clip"].value(),
        "problems": form_problems(form, refusal),
        "against": _against_plans(request, found.rows),
    }
    frame = frame_of(request, timezone.now())
    return render(request, "groups/selected/plan.html", _context(frame, found, **shown), status=status)


def _against_plans(request: HttpRequest, rows: list[GroupRow]) -> list[str]:
    """Why no plans can be made, each reason once."""
    groups = ConsumerGroup.objects.select_related("cluster").filter(pk__in=[row.id for row in rows])
    found = (why_not_planned(group, request.user) for group in groups)
    return list(dict.fromkeys(reason for reason in found if reason))


def _missing_roles(request: HttpRequest, permission: str, rows: list[GroupRow]) -> Iterator[str]:
    """Of each group's cluster that the user may not do it on."""
    found = (why_not(request.user, permission, row.cluster) for row in rows)
    return (missing for missing in found if missing)


def _context(frame: Frame, found: Selection, **shown: Any) -> dict[str, Any]:
    return context(frame, selection=found, **shown)
