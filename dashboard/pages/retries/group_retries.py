"""Retries of one group, and their figures."""

from datetime import datetime, timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.dead_letters.queries.filters import DeadLetterFilters
from consumers.dead_letters.queries.listing import dead_letter_list
from consumers.groups.detail import group_head
from consumers.models import ConsumerGroup
from consumers.queries.groups import find_group
from consumers.queries.windows import OPEN_WINDOWS
from consumers.retries.checks.conditions import conditions_of
from consumers.retries.levels.ladder import ladder_of
from consumers.retries.unfinished.blocked import blocked_queues
from consumers.retries.volumes import VolumeWindow, volumes_of
from consumers.vocabulary.reasons import ReasonCode
from consumers.words.reasons import coded_reason
from dashboard.figures.points import Figure, Line
from dashboard.figures.retry_ladder import retry_ladder
from dashboard.figures.volume_bars import volume_bars
from dashboard.pages.common.access import page, part, with_charts
from dashboard.pages.common.figures import marks_of
from dashboard.pages.common.frame import context, frame_of
from dashboard.pages.common.ranges import Range, range_of
from dashboard.pages.groups.group_tabs import tabs
from dashboard.pages.rebalances.rebalances import rebalance_spans
from dashboard.pages.retries.retries import blocked_lines, condition_lines, rung_lines
from dashboard.plotly_files import PATH

# The figures of retries, as JSON for the browser to draw: volumes, dead letters, the ladder of delay levels.
CONSUMED, RETRIED, DEAD = "var(--volume-consumed)", "var(--volume-retried)", "var(--volume-dead)"


@page
def ladder(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    now = timezone.now()
    try:
        return JsonResponse(retry_ladder(ladder_of(cluster, group, now), now))
    except ConsumerGroup.DoesNotExist:
        raise missing(cluster, group) from None


@page
def volumes(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    names = {"consumed": (_("consumed"), CONSUMED), "into_retry": (_("into retry"), RETRIED)}
    return _figure(request, cluster, group, names | {"into_dlq": (_("into DLQ"), DEAD)})


@page
def dead_letters(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    return _figure(request, cluster, group, {"into_dlq": (_("into DLQ"), DEAD)})


def missing(cluster: str, group: str) -> Http404:
    return Http404(_("No group “%(group)s” is known on “%(cluster)s”.") % {"group": group, "cluster": cluster})


def _figure(request: HttpRequest, cluster: str, group: str, names: dict[str, tuple[str, str]]) -> JsonResponse:
    now = timezone.now()
    shown = range_of(request, now)
    return JsonResponse(volume_figure(cluster, group, shown, now, names))


def volume_figure(cluster: str, group: str, shown: Range, now: datetime, names: dict[str, tuple[str, str]]) -> Figure:
    try:
        found = volumes_of(cluster, group, shown.since, shown.until, now)
    except ConsumerGroup.DoesNotExist:
        raise missing(cluster, group) from None
    windows = closed(found.windows)
    return volume_bars(
        [window.at for window in windows],
        timedelta(seconds=found.step_seconds),
        [(line_of(windows, field, name), colour) for field, (name, colour) in names.items()],
        marks_of(cluster, group, shown),
        rebalance_spans(cluster, group, shown),
        until=shown.until,
    )


def closed(windows: list[VolumeWindow]) -> list[VolumeWindow]:
    """Without the newest ones that are not over for the pipeline: that it is so at every moment is no news."""
    size = len(windows)
    for _open in range(OPEN_WINDOWS):
        if size and windows[size - 1].is_open:
            size -= 1
    return windows[:size]


def line_of(windows: list[VolumeWindow], field: str, name: str) -> Line:
    """Of complete windows: the sum of a part of one is no sum."""
    return Line(
        name,
        [None if window.is_open else getattr(window, field) for window in windows],
        [
            coded_reason(ReasonCode.NOT_AGGREGATED) if window.is_open else window.unknown.get(field)
            for window in windows
        ],
    )


# The Retries & DLQ tab of a group: what stands in the way, what is blocked, what waits on which rung, what died.
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
