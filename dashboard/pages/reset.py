"""One reset: what it will do, how it goes, what became of each queue, and what can be done with it. A part refreshes
itself while a worker has it; it is loaded anew when that ends, as other acts are offered then.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRefresh

from consumers.models import ResetOutcome
from consumers.selectors.queues import find_group
from consumers.selectors.resets.events import reset_events
from consumers.selectors.resets.queues import reset_queues
from consumers.selectors.resets.resets import find_reset
from consumers.selectors.resets.rows import ResetRow
from consumers.selectors.resets.span import span_of

from .access import page, part
from .frame import Choice, Frame, context, frame_of
from .group_tabs import tabs
from .list_pages import listed
from .problems import UnknownFilter
from .reset_offers import offers

ROWS = 100
LEFT_OUT = "left out"


@page
def reset(request: HttpRequest, reset: UUID) -> HttpResponse:
    return render(request, "pages/reset.html", reset_context(request, reset))


@part
def reset_part(request: HttpRequest, reset: UUID) -> HttpResponse:
    shown = {**reset_context(request, reset), "is_part": True}
    if request.htmx and shown["reset"].status not in shown["working"]:  # type: ignore[attr-defined]
        return HttpResponseClientRefresh()
    return render(request, "fragments/reset.html", shown)


def reset_context(request: HttpRequest, reset_id: UUID, problem: str = "") -> dict[str, Any]:
    """`problem`: why an act was refused."""
    frame = frame_of(request, timezone.now())
    row = find_reset(reset_id, frame.now)
    if row is None:
        raise Http404(_("There is no such reset."))
    is_there = find_group(row.cluster, row.group) is not None
    shown = {
        "reset": row,
        "is_working": row.is_planning or row.is_applying,
        "working": ("planning", "applying"),
        "tabs": tabs(frame, row.cluster, row.group) if is_there else [],
        "group_href": frame.group(row.cluster, row.group) if is_there else "",
        "resets_href": frame.to("group_resets", row.cluster, row.group) if is_there else frame.to("resets"),
        "undoes_href": frame.to("reset", row.restores) if row.restores else "",
        "undone_hrefs": [frame.to("reset", other) for other in row.restored_by],
        "problem": problem,
        "span": span_of(reset_id),
        "was_applied": row.started_at is not None,
        "events": reset_events(reset_id),
        "offers": offers(row, request.user, frame.now),
    }
    return context(frame, **shown, **_queues(frame, row, reset_id))


def _queues(frame: Frame, row: ResetRow, reset_id: UUID) -> dict[str, Any]:
    said = frame.request.GET.get("outcome", "")
    if said and said not in (*ResetOutcome.values, LEFT_OUT):
        raise UnknownFilter("outcome", said, [*ResetOutcome.values, LEFT_OUT])
    which: dict[str, Any] = {"left_out": True} if said == LEFT_OUT else {"outcome": said or None}
    queues, paging = listed(frame, ROWS, lambda number: reset_queues(reset_id, **which, page=number, page_size=ROWS))
    return {"queues": queues, "choices": _choices(frame, row, said), **paging}


def _choices(frame: Frame, row: ResetRow, said: str) -> list[tuple[Choice, int]]:
    """Queues by outcome; none where there is nothing to choose from."""
    if row.totals is None:
        return []
    counts: Mapping[str, int] = {**row.totals.outcomes, LEFT_OUT: row.totals.left_out}
    named = [(Choice(name, frame.here(outcome=name), name == said), n) for name, n in counts.items() if n]
    every = (Choice(_("all"), frame.here(outcome=None), not said), row.totals.queues)
    return [every, *named] if named else []
