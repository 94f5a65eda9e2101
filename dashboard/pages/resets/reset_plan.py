"""Plans a reset: where to, of which queues, and why. Planning changes nothing: brokers are asked, and a plan is kept.

Other pages link here with what is known already: kind, value, topic, broker, queue, reason, clip.
"""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from consumers.jobs.asking import RedisDown
from consumers.models import ConsumerGroup, Reset, ResetKind
from consumers.resets.permission import MAY_RESET, why_no_role
from consumers.resets.request import request_plan, why_not_planned
from consumers.resets.targets.reset_targets import OFFERED
from consumers.resets.tasks import hand_over_plan
from consumers.resets.wish import Asker, ResetRefused
from dashboard.pages.common.frame import context, frame_of
from dashboard.pages.groups.group_found import group_or_404
from dashboard.pages.groups.group_tabs import tabs

from .reset_form import FIELDS, ResetForm
from .reset_where import where

# The targets that a reset can have, as the form offers them: in plain words, with what they cost.


@dataclass(frozen=True)
class KindLine:
    """One choice. `field` is the input of its value, if it has one, `errors` what is wrong with what is typed there."""

    name: str
    label: str | Promise
    meaning: str | Promise
    chosen: bool
    field: str
    value: str
    hint: str | Promise
    errors: list[str]


def kind_lines(form: ResetForm) -> list[KindLine]:
    return list(_lines(form))


def _lines(form: ResetForm) -> Iterable[KindLine]:
    chosen = form["kind"].value()
    for kind, target in OFFERED.items():
        field = target.field
        value = form[field].value() if field else ""
        errors = [str(error) for error in form.errors.get(field, [])] if field else []
        yield KindLine(
            kind.value, target.label, target.meaning, kind == chosen, field, value or "", target.hint, errors
        )


GROUPS = 500


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def reset_plan(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found = group_or_404(cluster, group)
    if request.method != "POST":
        return _shown(request, found, ResetForm(timezone.now(), initial=_prefilled(request)))
    if not request.user.has_perm(MAY_RESET):
        raise PermissionDenied(why_no_role())
    now = timezone.now()
    form = ResetForm(now, request.POST, request.FILES)
    if not form.is_valid():
        return _shown(request, found, form, status=400)
    try:
        made = request_plan(cluster, group, form.wish(), asker_of(request), now)
    except ResetRefused as refusal:
        return _shown(request, found, form, refusal=str(refusal), status=409)
    ask_for_plan(made)
    return HttpResponseRedirect(reverse("reset", args=[made.pk]))


def ask_for_plan(reset: Reset) -> None:
    """Where Redis is down the reset is refused with that reason, which its page shows."""
    with suppress(RedisDown):
        hand_over_plan(reset.pk)


def asker_of(request: HttpRequest) -> Asker:
    return Asker(request.user, request.META.get("REMOTE_ADDR"), "page")


def _prefilled(request: HttpRequest) -> dict[str, Any]:
    """What a link says. A kind that is none is left out: nothing is chosen then."""
    said = request.GET
    kind = said.get("kind", "")
    known: dict[str, Any] = {"reason": said.get("reason", ""), "clip": said.get("clip") == "1"}
    if kind not in OFFERED:
        return known
    name = FIELDS.get(ResetKind(kind))
    return known | {"kind": kind} | ({name: said.get("value", "")} if name else {})


def _shown(
    request: HttpRequest, group: ConsumerGroup, form: ResetForm, refusal: str = "", status: int = 200
) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    cluster = group.cluster.name
    said = request.POST if request.method == "POST" else request.GET
    topics, brokers, queues = (said.getlist(name) for name in ("topic", "broker", "queue"))
    others = ConsumerGroup.objects.filter(cluster=group.cluster).exclude(pk=group.pk).order_by("name")
    shown = {
        "group": group,
        "form": form,
        "kinds": kind_lines(form),
        "reason": form["reason"].value() or "",
        "clip": form["clip"].value(),
        "where": where(group, [topic for topic in topics if topic], brokers, queues, frame.now),
        "problems": _problems(form, refusal),
        "other_groups": others.values_list("name", flat=True)[:GROUPS],
        "against": why_not_planned(group, request.user),
        "tabs": tabs(frame, cluster, group.name),
        "group_href": frame.group(cluster, group.name),
        "resets_href": frame.to("group_resets", cluster, group.name),
    }
    return render(request, "resets/reset_plan.html", context(frame, **shown), status=status)


def _problems(form: ResetForm, refusal: str) -> list[tuple[str, str]]:
    """The id of the field and what is wrong with it, for the summary at the top; no id where it is of no one field."""
    found = [("", refusal)] if refusal else []
    for name, errors in form.errors.items():
        target = "" if name == NON_FIELD_ERRORS else f"field-{name}"
        found += [(target, str(error)) for error in errors]
    return found
