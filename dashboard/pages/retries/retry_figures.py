"""The figures of retries, as JSON for the browser to draw: volumes, dead letters, the ladder of delay levels."""

from datetime import datetime, timedelta

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.models import ConsumerGroup
from consumers.queries.windows import OPEN_WINDOWS
from consumers.retries.levels.ladder import ladder_of
from consumers.retries.volumes import VolumeWindow, volumes_of
from consumers.vocabulary.reasons import ReasonCode
from consumers.words.reasons import coded_reason
from dashboard.figures.points import Figure, Line
from dashboard.figures.retry_ladder import retry_ladder
from dashboard.figures.volume_bars import volume_bars
from dashboard.pages.common.access import page
from dashboard.pages.common.figures import marks_of
from dashboard.pages.common.ranges import Range, range_of
from dashboard.pages.rebalances.rebalance_spans import rebalance_spans

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
    return _figure(request, cluster, group, names | {"into_dlq": (_("into the dead letters"), DEAD)})


@page
def dead_letters(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    return _figure(request, cluster, group, {"into_dlq": (_("into the dead letters"), DEAD)})


def missing(cluster: str, group: str) -> Http404:
    return Http404(_("No group “%(group)s” has been read on “%(cluster)s”.") % {"group": group, "cluster": cluster})


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
