"""Offset resets: the list, and marks over time."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.models import ResetStatus
from consumers.queries.reset_marks import ResetMark, reset_marks
from consumers.resets.permission import MAY_RESET
from consumers.resets.queries.resets import reset_list
from dashboard.figures.points import RESET, Span
from dashboard.pages.common.access import page
from dashboard.pages.common.frame import Choice, Frame, context, frame_of
from dashboard.pages.common.list_pages import listed
from dashboard.pages.common.ranges import Range
from dashboard.pages.groups.group_tabs import group_or_404, tabs
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.numbers import clock
from dashboard.wording.resets import STATUSES, destination

# Resets of all groups, and those of one: the newest first.
ROWS = 50


@page
def resets(request: HttpRequest) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    return render(request, "resets/resets.html", context(frame, **_listed(frame, cluster=frame.cluster)))


@page
def group_resets(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found, frame = group_or_404(cluster, group), frame_of(request, timezone.now())
    shown = {
        "group": found,
        "tabs": tabs(frame, cluster, group),
        "group_href": frame.group(cluster, group),
        "plan_href": frame.to("reset_plan", cluster, group) if request.user.has_perm(MAY_RESET) else "",
    }
    return render(
        request, "resets/resets.html", context(frame, **shown, **_listed(frame, cluster=cluster, group=group))
    )


def _listed(frame: Frame, *, cluster: str | None, group: str | None = None) -> dict[str, Any]:
    status = frame.request.GET.get("status", "")
    if status and status not in ResetStatus.values:
        raise UnknownFilter("status", status, ResetStatus.values)
    wanted: dict[str, Any] = {"cluster": cluster, "group": group, "status": status or None, "page_size": ROWS}
    rows, paging = listed(frame, ROWS, lambda number: reset_list(frame.now, page=number, **wanted))
    return {
        "lines": [(row, frame.to("reset", row.id)) for row in rows],
        "is_filtered": bool(status),
        "status_choices": [Choice(_("all"), frame.here(status=None), not status)]
        + [Choice(str(word), frame.here(status=name), name == status) for name, word in STATUSES.items()],
        **paging,
    }


# Resets of a group as bands on the time axis of its figures, and in words.
def reset_spans(cluster: str, group: str, shown: Range) -> list[Span]:
    found = reset_marks(cluster=cluster, group=group, since=shown.since, until=shown.until)
    return [
        Span(
            mark.since,
            mark.until or shown.until,
            f"{clock(mark.since, shown.until)} UTC · {reset_words(mark)}",
            RESET,
        )
        for mark in found
    ]


def reset_words(mark: ResetMark) -> str:
    """`reset by ann, applied: to offset 40 (orders were lost)`."""
    words = {"by": mark.by, "status": STATUSES[ResetStatus(mark.status)], "reason": mark.reason}
    return _("reset by %(by)s, %(status)s: %(where)s (%(reason)s)") % {
        **words,
        "where": destination(mark.kind, mark.value),
    }
