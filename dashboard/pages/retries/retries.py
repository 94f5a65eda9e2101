"""Retries & DLQ over all groups: what keeps failed messages from coming back, what is blocked, who retries and dies."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.groups.listing import ORDERINGS, group_list
from consumers.groups.rows import GroupFilters
from consumers.retries.checks.condition_rows import FailingGroup
from consumers.retries.checks.failing import failing_groups
from consumers.retries.levels.broker_levels import delay_summary
from consumers.retries.unfinished.blocked import all_blocked
from dashboard.pages.common.access import page, part
from dashboard.pages.common.frame import Frame, context, frame_of
from dashboard.pages.groups.groups_query import Column, column, page_links, page_number
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.fields import FIELDS

from .retry_lines import blocked_lines

ROWS, FAILING, BLOCKED, BROKERS = 30, 20, 20, 20
NUMBERS = ("dlq_messages", "dlq_day_messages", "retry_share", "retry_rate", "consume_rate")
# What died in 24 hours is not known on the first day, how many dead letters there are is with the first reading.
FIRST = f"-{NUMBERS[0]}"


@page
def retries(request: HttpRequest) -> HttpResponse:
    return render(request, "retries/retries.html", retries_context(request))


@part
def retries_part(request: HttpRequest) -> HttpResponse:
    return render(request, "retries/retries_part.html", {**retries_context(request), "is_part": True})


def retries_context(request: HttpRequest) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    failing, blocked = failing_groups(frame.cluster, frame.now), all_blocked(frame.cluster, frame.now)
    delays = delay_summary(frame.cluster, frame.now)
    return context(
        frame,
        failing=[(row, _page_of(frame, row)) for row in failing[:FAILING]],
        failing_more=max(0, len(failing) - FAILING),
        late=[(row.cluster, finding) for row in delays for finding in row.levels.findings],
        delays=delays[:BROKERS],
        delays_more=max(0, len(delays) - BROKERS),
        blocked=blocked_lines(frame, blocked[:BLOCKED], with_group=True),
        blocked_more=max(0, len(blocked) - BLOCKED),
        many_clusters=frame.cluster is None and len(frame.clusters) > 1,
        **_groups(frame),
    )


def _page_of(frame: Frame, row: FailingGroup) -> str:
    """Of one group its own tab, of a cause of many the groups of its cluster."""
    if row.group is not None:
        return frame.to("group_retries", row.cluster, row.group)
    return frame.to("groups", cluster=row.cluster)


def _groups(frame: Frame) -> dict[str, Any]:
    read = frame.request.GET.get
    ordering = read("ordering", "") or FIRST
    if ordering.removeprefix("-") not in ORDERINGS:
        raise UnknownFilter("ordering", ordering, ORDERINGS)
    filters = GroupFilters(cluster=frame.cluster, search=read("search", "").strip() or None, ordering=ordering)
    found = group_list(filters, now=frame.now, page=page_number(frame.request), page_size=ROWS)
    return {
        "found": found,
        "rows": [(row, frame.to("group_retries", row.cluster, row.group)) for row in found.rows],
        "columns": _columns(frame, ordering),
        "numbers": NUMBERS,
        "links": page_links(frame, found.page, found.pages),
        "first": (found.page - 1) * ROWS + 1,
        "last": (found.page - 1) * ROWS + len(found.rows),
    }


def _columns(frame: Frame, ordering: str) -> list[Column]:
    words = [("group", _("Group"))]
    if frame.cluster is None and len(frame.clusters) > 1:
        words.append(("cluster", _("Cluster")))
    heads = [column(frame, ordering, name, label, "", is_number=False) for name, label in words]
    return heads + [
        column(frame, ordering, name, str(FIELDS[name].label), str(FIELDS[name].unit), is_number=True)
        for name in NUMBERS
    ]
