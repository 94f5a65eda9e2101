"""The Retries & DLQ tab of a group: what stands in the way, what is blocked, what waits on which rung, what died."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.utils import timezone

from consumers.dead_letters.queries.filters import DeadLetterFilters
from consumers.dead_letters.queries.listing import dead_letter_list
from consumers.groups.detail import group_head
from consumers.queries.groups import find_group
from consumers.retries.checks.conditions import conditions_of
from consumers.retries.levels.ladder import ladder_of
from consumers.retries.unfinished.blocked import blocked_queues
from consumers.retries.volumes import volumes_of
from dashboard.pages.common.access import page, part
from dashboard.pages.common.chart_policy import with_charts
from dashboard.pages.common.frame import context, frame_of
from dashboard.pages.groups.group_tabs import tabs
from dashboard.plotly_files import PATH

from .retry_figures import missing
from .retry_lines import blocked_lines, condition_lines, rung_lines

LETTERS = 5


@with_charts
@page
def retries(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    shown = retries_context(request, cluster, group)
    charts = {"plotly": static(PATH), "figure_query": f"?range={shown['frame'].range.name}"}
    return render(request, "retries/group_retries.html", {**shown, **charts})


@part
def retries_part(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    shown = {**retries_context(request, cluster, group), "is_refresh": True}
    return render(request, "retries/group_retries_part.html", shown)


def retries_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    group = find_group(cluster, name)
    if group is None:
        raise missing(cluster, name)
    ladder = ladder_of(cluster, name, frame.now)
    return context(
        frame,
        group=group_head(group, now=frame.now),
        tabs=tabs(frame, cluster, name),
        ladder=ladder,
        rungs=rung_lines(ladder),
        blocked=blocked_lines(frame, blocked_queues(cluster, name, frame.now), with_group=False),
        volumes=volumes_of(cluster, name, frame.range.since, frame.range.until, frame.now).totals,
        letters=dead_letter_list(group, DeadLetterFilters(), page_size=LETTERS),
        every_dead_letter=frame.to("group_dlq", cluster, name),
        **condition_lines(conditions_of(cluster, name, frame.now), ladder),
    )
