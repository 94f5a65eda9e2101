"""Plans a re-send: what was chosen, where it may go and who would get it. Planning sends nothing.

The list of dead letters posts what was chosen in it; the form here posts the same with a destination and a reason.
"""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from consumers.dead_letters.queries.filters import WrongFilter, all_filters_of, query_of
from consumers.dead_letters.resend.plan import (
    LEAST_RATE,
    MOST_RATE,
    USUAL_RATE,
    Chosen,
    PlanRefused,
    ResendRequest,
    Selection,
    chosen_of,
    plan,
)
from consumers.dead_letters.resend.preview import Preview, preview
from consumers.dead_letters.resend.run import MAY_RESEND
from consumers.models import ConsumerGroup, Destination
from dashboard.pages.common.frame import context, frame_of
from dashboard.pages.groups.group_found import group_or_404
from dashboard.pages.groups.group_tabs import tabs
from dashboard.pages.site.problems import UnknownFilter, WrongQuery


def not_allowed() -> PermissionDenied:
    return PermissionDenied(
        _("Sending dead letters again needs the permission %s: the roles operator and admin have it.") % MAY_RESEND
    )


@dataclass(frozen=True)
class Way:
    """One destination, what speaks against it, and whether it is the chosen one."""

    name: str
    label: str
    meaning: str
    seen: Preview
    is_chosen: bool


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@login_required
def resend_plan(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found = group_or_404(cluster, group)
    if request.method != "POST":
        return _form(request, found, _selection(request.GET))
    if not request.user.has_perm(MAY_RESEND):
        raise not_allowed()
    selection = _selection(request.POST)
    if "destination" not in request.POST:
        is_empty = selection.messages is not None and not selection.messages
        return _form(request, found, selection, _nothing_chosen() if is_empty else "")
    try:
        made = plan(found, _wish(request.POST, selection), request.user, timezone.now())
    except PlanRefused as refusal:
        return _form(request, found, selection, str(refusal))
    return HttpResponseRedirect(reverse("resend", args=[cluster, group, made.pk]))


def _nothing_chosen() -> str:
    return _("Nothing is planned: no message is ticked. Tick some in the list of dead letters, or send all of them.")


def _form(request: HttpRequest, group: ConsumerGroup, selection: Selection, refusal: str = "") -> HttpResponse:
    frame = frame_of(request, timezone.now())
    chosen = chosen_of(group, selection)
    sent = request.POST
    shown = {
        "group": group,
        "chosen": chosen,
        "ways": _ways(group, chosen, sent.get("destination", ""), frame.now),
        "messages": sent.getlist("message") or request.GET.getlist("message"),
        "filter": query_of(selection.filters) if selection.filters is not None else None,
        "refusal": refusal,
        "reason": sent.get("reason", ""),
        "again": sent.get("again") == "1",
        "rate": sent.get("rate", f"{USUAL_RATE:g}"),
        "least_rate": f"{LEAST_RATE:g}",
        "most_rate": f"{MOST_RATE:g}",
        "may_resend": request.user.has_perm(MAY_RESEND),
        "permission": MAY_RESEND,
        "tabs": tabs(frame, group.cluster.name, group.name),
        "letters_href": frame.to("group_dlq", group.cluster.name, group.name),
        "group_href": frame.group(group.cluster.name, group.name),
        "resends_href": frame.to("resends", group.cluster.name, group.name),
    }
    return render(request, "dead_letters/resend_plan.html", context(frame, **shown), status=409 if refusal else 200)


def _ways(group: ConsumerGroup, chosen: Chosen, said: str, now: Any) -> list[Way]:
    meanings = (
        (
            Destination.GROUP,
            _("to this group alone"),
            _("through its retry topic, at once; a message that fails again starts its whole ladder of retries anew"),
        ),
        (
            Destination.TOPIC,
            _("to the topics they came from"),
            _("every group of these topics gets them once more, as if they had just been produced"),
        ),
    )
    seen = {way: preview(group, way, set(chosen.topics), now) for way, _label, _meaning in meanings}
    usual = next((way for way in seen if not seen[way].refusals), Destination.GROUP)
    return [Way(way, label, meaning, seen[way], way == (said or usual)) for way, label, meaning in meanings]


def _selection(said: QueryDict) -> Selection:
    """Of all that filters choose only where `filter` is sent: it is empty where the list has no filter."""
    if "filter" not in said:
        return Selection(messages=[_place(text) for text in said.getlist("message")])
    if "message" in said:
        raise WrongQuery(_("Messages are ticked and a filter is given: send one of the two."))
    try:
        return Selection(filters=all_filters_of(QueryDict(said.get("filter", "")).dict()))
    except WrongFilter as wrong:
        raise WrongQuery(str(wrong)) from None


def _place(text: str) -> tuple[str, int, int]:
    """As rows name theirs: broker/queue/offset."""
    broker, _first, rest = text.partition("/")
    queue_id, _second, offset = rest.partition("/")
    if not (broker and queue_id.isdecimal() and offset.isdecimal() and len(queue_id) < 10 and len(offset) < 19):
        raise UnknownFilter("message", text, ["broker/queue/offset"])
    return broker, int(queue_id), int(offset)


def _wish(said: QueryDict, selection: Selection) -> ResendRequest:
    destination = said.get("destination", "")
    if destination not in Destination.values:
        raise UnknownFilter("destination", destination, Destination.values)
    try:
        rate = float(said.get("rate", ""))
    except ValueError:
        raise PlanRefused(_("The rate must be a number.")) from None
    again = said.get("again") == "1"
    return ResendRequest(selection, Destination(destination), said.get("reason", ""), again, rate)
