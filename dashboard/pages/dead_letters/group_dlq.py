"""The dead letters of a group: those that the filters choose, newest first, and what can be done with them.

The list stands still while letters are chosen in it; what is known of it, and a look that was asked for, refresh.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from consumers.dead_letters.index.look import AskedLook, asked_look
from consumers.dead_letters.inspection import MAY_SEE
from consumers.dead_letters.queries.filters import DeadLetterFilters, WrongFilter, filters_of, query_of, words_of
from consumers.dead_letters.queries.listing import DeadLetterPage, DeadLetterRow, completeness, dead_letter_list
from consumers.dead_letters.resend.run import MAY_RESEND
from consumers.dead_letters.tasks import ask_for_dead_letters
from consumers.groups.detail import group_head
from consumers.jobs.asking import PATIENCE, RedisDown
from consumers.models import ConsumerGroup
from consumers.queries.groups import find_group
from dashboard.pages.common.access import page, part
from dashboard.pages.common.frame import Frame, context, frame_of
from dashboard.pages.groups.group_tabs import tabs
from dashboard.pages.groups.groups_query import page_links, page_number
from dashboard.pages.site.problems import WrongQuery

ROWS = 50


@dataclass(frozen=True)
class Line:
    letter: DeadLetterRow
    href: str


@page
def dlq(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found = _group_or_404(cluster, group)
    frame = frame_of(request, timezone.now())
    return render(request, "dead_letters/group_dlq.html", {**_known(frame, found), **_listed(frame, found)})


@part
def dlq_part(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    shown = _known(frame_of(request, timezone.now()), _group_or_404(cluster, group))
    return render(request, "dead_letters/group_dlq_part.html", {**shown, "is_refresh": True})


@require_POST
@login_required
def dlq_read(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Asks for a look, and shows the list again: the page tells what becomes of it."""
    found = _group_or_404(cluster, group)
    frame = frame_of(request, timezone.now())
    try:
        ask_for_dead_letters(found, frame.now)
    except RedisDown as down:
        shown = {**_known(frame, found), **_listed(frame, found), "asked_sentence": str(down)}
        return render(request, "dead_letters/group_dlq.html", shown, status=503)
    query = request.GET.copy()
    query["asked"] = "1"
    return HttpResponseRedirect(f"{frame.to('group_dlq', cluster, group).partition('?')[0]}?{query.urlencode()}")


def _group_or_404(cluster: str, name: str) -> ConsumerGroup:
    group = find_group(cluster, name)
    if group is None:
        raise Http404(_("No group “%(group)s” is known on “%(cluster)s”.") % {"group": name, "cluster": cluster})
    return group


def _known(frame: Frame, group: ConsumerGroup) -> dict[str, Any]:
    """How complete the list is, and whether the look that was asked for is done."""
    asked: AskedLook | None = None
    sentence = ""
    if "asked" in frame.request.GET:
        try:
            asked = asked_look(group)
        except RedisDown as down:
            sentence = str(down)
    return context(
        frame,
        group=group_head(group, now=frame.now),
        tabs=tabs(frame, group.cluster.name, group.name),
        completeness=completeness(group),
        asked=asked,
        is_late=asked is not None and asked.is_late(frame.now),
        patience_seconds=int(PATIENCE.total_seconds()),
        asked_sentence=sentence,
        every=2 if asked is not None and asked.done_at is None else 5,
        anew=frame.here(),
    )


def _listed(frame: Frame, group: ConsumerGroup) -> dict[str, Any]:
    filters, place = _filters(frame), (group.cluster.name, group.name)
    number = page_number(frame.request)
    found = dead_letter_list(group, filters, page=number, page_size=ROWS)
    if number > found.pages:
        found = dead_letter_list(group, filters, page=found.pages, page_size=ROWS)
    user = frame.request.user
    return {
        "found": found,
        "lines": [Line(row, _message(frame, place, row)) for row in found.rows],
        "said": words_of(filters),
        "query": query_of(filters),
        "is_filtered": filters != DeadLetterFilters(),
        "every_letter": frame.to("group_dlq", *place),
        "exports": _exports(filters, user.has_perm(MAY_SEE)),
        "may_resend": user.has_perm(MAY_RESEND),
        **_paging(frame, found),
    }


def _paging(frame: Frame, found: DeadLetterPage) -> dict[str, Any]:
    first = (found.page - 1) * ROWS
    links = page_links(frame, found.page, found.pages)
    return {"links": links, "first": first + 1, "last": first + len(found.rows)}


def _filters(frame: Frame) -> DeadLetterFilters:
    try:
        return filters_of(frame.request.GET.dict())
    except WrongFilter as wrong:
        raise WrongQuery(str(wrong)) from None


def _message(frame: Frame, place: tuple[str, str], row: DeadLetterRow) -> str:
    return frame.to("dlq_message", *place, row.broker, str(row.queue_id), str(row.offset))


def _exports(filters: DeadLetterFilters, may_see: bool) -> list[tuple[str, str]]:
    """What it is called, and the query of its address: bodies are for those who may see them."""
    kinds = [("csv", "0", _("CSV")), ("jsonl", "0", _("JSON lines"))]
    if may_see:
        kinds += [("csv", "1", _("CSV with bodies")), ("jsonl", "1", _("JSON lines with bodies"))]
    said = words_of(filters)
    return [(label, urlencode({**said, "format": kind, "bodies": bodies})) for kind, bodies, label in kinds]
