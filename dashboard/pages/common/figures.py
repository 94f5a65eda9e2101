"""The figures of a group's page, as JSON for the browser to draw."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from consumers.groups.detail import live_lag
from consumers.groups.rows import GroupRow
from consumers.overview.queries import changes
from consumers.queries.groups import find_group
from consumers.queries.history import History, Point, Series, group_history
from consumers.queries.windows import OPEN_WINDOWS, RangeError
from consumers.rebalances.events import Mark, rebalance_counts, rebalance_marks
from consumers.rebalances.rows import RebalanceFilters
from consumers.vocabulary.reasons import ReasonCode, reason_code
from consumers.words.marks import listed
from consumers.words.reasons import cause_words, coded_reason
from dashboard.figures.layout import Change, Figure, Line, Span, beginning
from dashboard.figures.log_scale import logarithmic
from dashboard.figures.queue_heatmap import queue_heatmap
from dashboard.figures.time_lines import Scale, lag_lines, time_lines
from dashboard.pages.alerts.preview_pictures import incident_spans
from dashboard.pages.common.moments import Range, range_of
from dashboard.pages.repeats import repeat_spans
from dashboard.pages.reset import reset_spans
from dashboard.pages.site.problems import WrongQuery
from dashboard.wording.numbers import duration, zoned

from .frame import Frame, no_group, page

QUEUES_SHOWN = 200
PRODUCED, CONSUMED, TIME_LAG = "var(--series-2)", "var(--line)", "var(--line-total)"
RATE = Scale(gettext_lazy("msg/s"), gettext_lazy("msg/s"), ",.4~g")
MESSAGES = Scale(gettext_lazy("messages"), gettext_lazy("messages"), ",d")
TIME = Scale(gettext_lazy("time lag"), words=duration)


@page
def lag(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    now = timezone.now()
    shown = charted(request, now, cluster, group)
    drawn = lag_figure(cluster, group, shown, now, spans_of(cluster, group, shown))
    return JsonResponse(on_scale(request, beginning(drawn, shown.collected_since, now), MESSAGES))


def on_scale(request: HttpRequest, drawn: Figure, scale: Scale) -> Figure:
    """The figure, with the scale that the address chooses."""
    return logarithmic(drawn, scale) if request.GET.get("scale") == "log" else drawn


def charted(request: HttpRequest, now: datetime, cluster: str, group: str) -> Range:
    """The range of the page; from the first reading of the group on, if there was none before."""
    shown = range_of(request, now)
    found = find_group(cluster, group)
    return shown if found is None else shown.collected_from(found.first_seen_at)


def lag_figure(
    cluster: str, group: str, shown: Range, now: datetime, spans: list[Span], step_seconds: int | None = None
) -> Figure:
    try:
        of_topics: History | None = history_of(cluster, group, shown, now, "topic", step_seconds)
    except WrongQuery:
        of_topics = None
    # Both in the same windows.
    step_seconds = step_seconds if of_topics is None else of_topics.step_seconds
    history = history_of(cluster, group, shown, now, "group", step_seconds)
    topics = [] if of_topics is None else of_topics.series
    parts = [line_of(series, str(series.topic)) for series in topics] if len(topics) > 1 else []
    total = line_of(history.series[0], _("all topics"))
    size = closed_windows(total)
    return lag_lines(
        [point.at for point in history.series[0].points][:size],
        timedelta(seconds=history.step_seconds),
        cut(total, size),
        [cut(part, size) for part in parts],
        marks_of(cluster, group, shown),
        spans,
        live=live_lag(cluster, group, now) if shown.until >= now else None,
        until=shown.until,
        left_out="" if of_topics is not None else _("topics not drawn: too many queues for this range"),
    )


def compared_lag(frame: Frame, rows: Sequence[GroupRow]) -> Figure:
    """A line of lag for each group, in the windows of the page's range."""
    shown = frame.collected
    histories = [history_of(row.cluster, row.group, shown, frame.now, "group") for row in rows]
    step = timedelta(seconds=histories[0].step_seconds) if histories else timedelta(days=1)
    lines = [line_of(one.series[0], _name(frame, row)) for one, row in zip(histories, rows, strict=True)]
    size = max((closed_windows(line) for line in lines), default=0)
    starts = [point.at for point in histories[0].series[0].points[:size]] if histories else []
    coloured = [(cut(line, size), f"var(--series-{i + 1})") for i, line in enumerate(lines)]
    return time_lines(starts, step, coloured, MESSAGES, [], until=shown.until)


def _name(frame: Frame, row: GroupRow) -> str:
    return row.group if frame.cluster or len(frame.clusters) == 1 else f"{row.cluster} / {row.group}"


@page
def queues(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    now = timezone.now()
    shown = charted(request, now, cluster, group)
    history = history_of(cluster, group, shown, now, "queue", most_behind=QUEUES_SHOWN)
    lines = [line_of(series, f"{series.topic} / {series.broker} / {series.queue_id}") for series in history.series]
    step = timedelta(seconds=history.step_seconds)
    # Without a queue the axis still has the range that was asked for.
    every = [history.since + number * step for number in range(round((history.until - history.since) / step))]
    size = max((closed_windows(line) for line in lines), default=len(every))
    starts = every[:size]
    chosen = [cut(line, size) for line in lines]
    marks, spans = marks_of(cluster, group, shown), spans_of(cluster, group, shown)
    drawn = queue_heatmap(starts, step, chosen, marks, spans, until=shown.until)
    return JsonResponse(beginning(drawn, shown.collected_since, now))


@page
def rates(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    """Messages that were produced and consumed a second."""
    names = {"produce_rate": (_("produced"), PRODUCED), "consume_rate": (_("consumed"), CONSUMED)}
    return JsonResponse(_of_group(request, cluster, group, names, RATE))


@page
def time_lag(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    drawn = _of_group(request, cluster, group, {"time_lag_seconds": (_("time lag"), TIME_LAG)}, TIME)
    return JsonResponse(on_scale(request, drawn, TIME))


def _of_group(
    request: HttpRequest, cluster: str, group: str, names: Mapping[str, tuple[str, str]], scale: Scale
) -> Figure:
    now = timezone.now()
    shown = charted(request, now, cluster, group)
    history = history_of(cluster, group, shown, now, "group")
    points = history.series[0].points[: closed_windows(line_of(history.series[0], ""))]
    drawn = time_lines(
        [point.at for point in points],
        timedelta(seconds=history.step_seconds),
        [(field_line(points, field, name), colour) for field, (name, colour) in names.items()],
        scale,
        marks_of(cluster, group, shown),
        until=shown.until,
    )
    return beginning(drawn, shown.collected_since, now)


def field_line(points: Sequence[Point], field: str, name: str) -> Line:
    return Line(
        name,
        [getattr(point, field) if point.complete else None for point in points],
        [
            (point.unknown_reason or point.unknown.get(field))
            if point.complete
            else coded_reason(ReasonCode.NOT_AGGREGATED)
            for point in points
        ],
    )


def history_of(
    cluster: str,
    group: str,
    shown: Range,
    now: datetime,
    by: Literal["group", "topic", "queue"],
    step_seconds: int | None = None,
    most_behind: int | None = None,
    named: Mapping[str, object] | None = None,
) -> History:
    try:
        history = group_history(
            cluster,
            group,
            since=shown.since,
            until=shown.until,
            now=now,
            by=by,
            step_seconds=step_seconds,
            most_behind=most_behind,
            named=named,
        )
    except RangeError as error:
        raise WrongQuery(str(error)) from None
    if history is None:
        raise no_group(cluster, group)
    return history


def marks_of(cluster: str, group: str, shown: Range) -> list[Change]:
    found = changes(cluster=cluster, group=group, since=shown.since, until=shown.until)
    return [Change(change.at, change.after, change.sentence) for change in found]


def spans_of(cluster: str, group: str, shown: Range) -> list[Span]:
    bands = [*rebalance_spans(cluster, group, shown), *reset_spans(cluster, group, shown)]
    return [*bands, *repeat_spans(cluster, group, shown), *incident_spans(cluster, group, shown)]


# Rebalances of a group as bands on the time axis of its figures.
def rebalance_spans(cluster: str, group: str, shown: Range) -> list[Span]:
    found = rebalance_marks(
        RebalanceFilters(cluster=cluster, group=group, since=shown.since, until=shown.until, touching=True)
    )
    return [Span(mark.since, mark.until, f"{zoned(mark.since, shown.until)} · {mark_words(mark)}") for mark in found]


def mark_words(mark: Mark) -> str:
    """`rebalance: joined`, `rollout: 7 rebalances`, `14 rebalances in 1 episode`, `flapping: 14 rebalances in 8
    episodes`."""
    many = ngettext("%(n)s rebalance", "%(n)s rebalances", mark.rebalances) % {"n": mark.rebalances}
    if mark.episodes > 1:
        return _("flapping: %s") % rebalance_counts(mark.rebalances, mark.episodes)
    if mark.rollout:
        return _("rollout: %s") % many
    if mark.rebalances > 1:
        return rebalance_counts(mark.rebalances, mark.episodes)
    return _("rebalance: %s") % listed(cause_words(cause) for cause in mark.causes)


def line_of(series: Series, name: str) -> Line:
    """Of complete windows: what was read of one so far would bend the line."""
    return Line(
        name,
        [point.lag_messages if point.complete else None for point in series.points],
        [
            point.unknown_reason if point.complete else coded_reason(ReasonCode.NOT_AGGREGATED)
            for point in series.points
        ],
    )


def closed_windows(line: Line) -> int:
    """How many windows to draw. That the newest are not aggregated yet is so at every moment, and no news."""
    size = len(line.values)
    for _open in range(OPEN_WINDOWS):
        if size and line.values[size - 1] is None and reason_code(line.reasons[size - 1]) is ReasonCode.NOT_AGGREGATED:
            size -= 1
    return size


def cut(line: Line, size: int) -> Line:
    return Line(line.name, line.values[:size], line.reasons[:size], line.absent)
