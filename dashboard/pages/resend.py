"""A resend: its plan, its page, and what is done with it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from consumers.dead_letters.filters import WrongFilter, all_filters_of, query_of
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
from consumers.dead_letters.resend.preview import (
    NotCancelled,
    NotStarted,
    Preview,
    ResendRow,
    cancel,
    find_resend,
    preview,
    preview_of,
    resend_list,
    resend_messages,
    start,
)
from consumers.dead_letters.resend.run import MAY_RESEND
from consumers.dead_letters.tasks import enqueue
from consumers.jobs.permissions import check, why_not
from consumers.models import ConsumerGroup, Destination, Resend, ResendOutcome
from dashboard.pages.common.frame import Choice, context, form_page, frame_of, group_or_404, page, refreshing, tabs
from dashboard.pages.common.list_pages import SHORT, listed, whole_number
from dashboard.pages.site.problems import UnknownFilter, WrongQuery
from dashboard.wording.codes import code_words


# Plans a re-send: what was chosen, where it may go and who would get it. Planning sends nothing.
#
# The list of dead letters posts what was chosen in it; the form here posts the same with a destination and a reason.
@dataclass(frozen=True)
class Way:
    """One destination, what speaks against it, and whether it is the chosen one."""

    name: str
    label: str
    meaning: str
    seen: Preview
    is_chosen: bool


@form_page
def resend_plan(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found = group_or_404(cluster, group)
    if request.method != "POST":
        return _form(request, found, _selection(request.GET))
    check(request.user, MAY_RESEND, cluster)
    selection = _selection(request.POST)
    if "destination" not in request.POST:
        is_empty = selection.messages is not None and not selection.messages
        return _form(request, found, selection, _nothing_chosen() if is_empty else "")
    try:
        made = plan(found, _request(request.POST, selection), request.user, timezone.now())
    except PlanRefused as refusal:
        return _form(request, found, selection, str(refusal))
    return HttpResponseRedirect(reverse("resend", args=[cluster, group, made.pk]))


def _nothing_chosen() -> str:
    return _("Nothing planned: no message is selected. Select messages in the list, or resend all of them.")


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
        "missing_role": why_not(request.user, MAY_RESEND, group.cluster.name),
        "tabs": tabs(frame, group.cluster.name, group.name),
        "letters_href": frame.to("group_dlq", group.cluster.name, group.name),
        "group_href": frame.group(group.cluster.name, group.name),
        "resends_href": frame.to("resends", group.cluster.name, group.name),
    }
    return render(request, "dead_letters/resend_plan.html", context(frame, **shown), status=409 if refusal else 200)


def _ways(group: ConsumerGroup, chosen: Chosen, given: str, now: Any) -> list[Way]:
    meanings = (
        (
            Destination.GROUP,
            _("to this group only"),
            _("sent to its retry topic at once; a message that fails again restarts all its retries"),
        ),
        (
            Destination.TOPIC,
            _("to their original topics"),
            _("every group that subscribes to these topics receives them again, as new messages"),
        ),
    )
    seen = {way: preview(group, way, set(chosen.topics), now) for way, _label, _meaning in meanings}
    usual = next((way for way in seen if not seen[way].refusals), Destination.GROUP)
    return [Way(way, label, meaning, seen[way], way == (given or usual)) for way, label, meaning in meanings]


def _selection(query: QueryDict) -> Selection:
    """Of all that filters choose only where `filter` is sent: it is empty where the list has no filter."""
    if "filter" not in query:
        return Selection(messages=[_place(text) for text in query.getlist("message")])
    if "message" in query:
        raise WrongQuery(_("Both selected messages and a filter were given: send only one."))
    try:
        return Selection(filters=all_filters_of(QueryDict(query.get("filter", "")).dict()))
    except WrongFilter as wrong:
        raise WrongQuery(str(wrong)) from None


def _place(text: str) -> tuple[str, int, int]:
    """As rows name theirs: broker/queue/offset."""
    broker, _first, rest = text.partition("/")
    queue_id, _second, offset = rest.partition("/")
    numbers = whole_number(queue_id, SHORT), whole_number(offset)
    if not broker or numbers[0] is None or numbers[1] is None:
        raise UnknownFilter("message", text, ["broker/queue/offset"])
    return broker, numbers[0], numbers[1]


def _request(query: QueryDict, selection: Selection) -> ResendRequest:
    destination = query.get("destination", "")
    if destination not in Destination.values:
        raise UnknownFilter("destination", destination, Destination.values)
    try:
        rate = float(query.get("rate", ""))
    except ValueError:
        raise PlanRefused(_("The rate must be a number.")) from None
    again = query.get("again") == "1"
    return ResendRequest(selection, Destination(destination), query.get("reason", ""), again, rate)


# One re-send: what it will do, how it goes, and what became of each message. And all re-sends of a group.
ROWS = 100


@page
def resends(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found, frame = group_or_404(cluster, group), frame_of(request, timezone.now())
    rows, paging = listed(frame, ROWS, lambda number: resend_list(found, frame.now, page=number, page_size=ROWS))
    lines = [(row, frame.to("resend", cluster, group, row.id)) for row in rows]
    shown = {"group": found, "lines": lines, "tabs": tabs(frame, cluster, group)}
    places = {"group_href": frame.group(cluster, group), "letters_href": frame.to("group_dlq", cluster, group)}
    return render(request, "dead_letters/resends.html", context(frame, **shown, **places, **paging))


def resend_context(
    request: HttpRequest, cluster: str, group: str, resend_id: UUID, problem: str = ""
) -> dict[str, Any]:
    found, frame = group_or_404(cluster, group), frame_of(request, timezone.now())
    row = find_resend(resend_id, frame.now)
    if row is None or (row.cluster, row.group) != (cluster, group):
        raise Http404(_("No such resend of “%(group)s” on “%(cluster)s”.") % {"group": group, "cluster": cluster})
    outcome = _outcome(request)
    messages, paging = listed(
        frame, ROWS, lambda number: resend_messages(resend_id, outcome=outcome, page=number, page_size=ROWS)
    )
    shown = {
        "group": found,
        "resend": row,
        "seen": preview_of(resend_id, frame.now) if row.is_planned else None,
        "tabs": tabs(frame, cluster, group),
        "messages": messages,
        "has_details": any(row.detail for row in messages),
        "problem": problem,
        "outcomes": _outcomes(frame, row, outcome),
        "done": sum(n for name, n in row.outcomes.items() if name not in ("planned", "sending")),
        "missing_role": why_not(request.user, MAY_RESEND, cluster),
        "group_href": frame.group(cluster, group),
        "letters_href": frame.to("group_dlq", cluster, group),
        "resends_href": frame.to("resends", cluster, group),
    }
    return context(frame, **shown, **paging)


resend, resend_part = refreshing("dead_letters/resend.html", "dead_letters/resend_part.html", resend_context)


def _outcome(request: HttpRequest) -> ResendOutcome | None:
    outcome = request.GET.get("outcome", "")
    if not outcome:
        return None
    if outcome not in ResendOutcome.values:
        raise UnknownFilter("outcome", outcome, ResendOutcome.values)
    return ResendOutcome(outcome)


def _outcomes(frame: Any, row: ResendRow, chosen: ResendOutcome | None) -> list[tuple[Choice, int]]:
    every = [(Choice(_("all"), frame.here(outcome=None), chosen is None), row.messages)]
    return every + [
        (Choice(str(code_words(name)), frame.here(outcome=name), name == chosen), messages)
        for name, messages in row.outcomes.items()
    ]


# Starts or cancels a re-send, and shows its page again: with the reason, where that was refused.
Act = Callable[[HttpRequest, Resend], None]


def act(do: Act) -> Callable[..., HttpResponse]:
    @require_POST
    @login_required
    @wraps(do)
    def view(request: HttpRequest, cluster: str, group: str, resend: UUID) -> HttpResponse:
        check(request.user, MAY_RESEND, cluster)
        found = Resend.objects.select_related("group__cluster").filter(
            pk=resend, group__name=group, group__cluster__name=cluster
        )
        row = found.first()
        if row is None:
            raise Http404(_("No such resend."))
        try:
            do(request, row)
        except (NotStarted, NotCancelled) as refusal:
            shown = resend_context(request, cluster, group, resend, str(refusal))
            return render(request, "dead_letters/resend.html", shown, status=409)
        return HttpResponseRedirect(reverse("resend", args=[cluster, group, resend]))

    return view


@act
def resend_start(request: HttpRequest, resend: Resend) -> None:
    start(resend, request.user, request.POST.get("confirm", "").strip(), timezone.now())
    enqueue(resend.pk)


@act
def resend_cancel(request: HttpRequest, resend: Resend) -> None:
    cancel(resend, request.user, timezone.now())
