"""One re-send: what it will do, how it goes, and what became of each message. And all re-sends of a group."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.dead_letters.queries.resends import ResendRow, find_resend, resend_list, resend_messages
from consumers.dead_letters.resend.preview import preview_of
from consumers.models import ResendOutcome
from dashboard.pages.common.access import page, part
from dashboard.pages.common.frame import Choice, context, frame_of
from dashboard.pages.common.list_pages import listed
from dashboard.pages.groups.group_found import group_or_404
from dashboard.pages.groups.group_tabs import tabs
from dashboard.pages.site.problems import UnknownFilter

from .resend_plan import MAY_RESEND

ROWS = 100


@page
def resend(request: HttpRequest, cluster: str, group: str, resend: UUID) -> HttpResponse:
    return render(request, "dead_letters/resend.html", resend_context(request, cluster, group, resend))


@part
def resend_part(request: HttpRequest, cluster: str, group: str, resend: UUID) -> HttpResponse:
    return render(
        request, "dead_letters/resend_part.html", {**resend_context(request, cluster, group, resend), "is_part": True}
    )


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
        "problem": problem,
        "outcomes": _outcomes(frame, row, outcome),
        "done": sum(n for name, n in row.outcomes.items() if name not in ("planned", "sending")),
        "may_resend": request.user.has_perm(MAY_RESEND),
        "permission": MAY_RESEND,
        "group_href": frame.group(cluster, group),
        "letters_href": frame.to("group_dlq", cluster, group),
        "resends_href": frame.to("resends", cluster, group),
    }
    return context(frame, **shown, **paging)


def _outcome(request: HttpRequest) -> ResendOutcome | None:
    said = request.GET.get("outcome", "")
    if not said:
        return None
    if said not in ResendOutcome.values:
        raise UnknownFilter("outcome", said, ResendOutcome.values)
    return ResendOutcome(said)


def _outcomes(frame: Any, row: ResendRow, chosen: ResendOutcome | None) -> list[tuple[Choice, int]]:
    every = [(Choice(_("all"), frame.here(outcome=None), chosen is None), row.messages)]
    return every + [
        (Choice(name, frame.here(outcome=name), name == chosen), messages) for name, messages in row.outcomes.items()
    ]
