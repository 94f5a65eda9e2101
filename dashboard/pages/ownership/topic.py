"""One topic: the groups that consume it, its queues per broker and what they allow, and its charts."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from consumers.models import Topic
from consumers.queries.history import History, Point
from consumers.topics.queries import (
    QueueAccess,
    TopicBroker,
    TopicDetail,
    find_topic,
    produced_history,
    produced_rates,
    topic_detail,
)
from dashboard.figures.layout import Figure, Line, beginning
from dashboard.figures.time_lines import Scale, time_lines
from dashboard.pages.common.figures import (
    MESSAGES,
    RATE,
    TIME,
    TIME_LAG as TOTAL,
    closed_windows,
    cut,
    field_line,
    history_of,
    line_of,
    on_scale,
)
from dashboard.pages.common.frame import context, frame_of, page, refreshing
from dashboard.pages.common.moments import Range, range_of

# Groups of one chart: more lines than colours say nothing.
DRAWN = 7
ACCESS: dict[str, str | Promise] = {
    QueueAccess.READ_WRITE: gettext_lazy("read and write"),
    QueueAccess.READ_ONLY: gettext_lazy("read only"),
    QueueAccess.WRITE_ONLY: gettext_lazy("write only"),
    QueueAccess.NONE: gettext_lazy("neither read nor write"),
    QueueAccess.UNEVEN: gettext_lazy("differs by queue"),
    QueueAccess.UNKNOWN: gettext_lazy("unknown"),
}


def topic_or_404(cluster: str, name: str) -> Topic:
    topic = find_topic(cluster, name)
    if topic is None:
        raise Http404(_("No topic “%(topic)s” is known on “%(cluster)s”.") % {"topic": name, "cluster": cluster})
    return topic


def topic_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    detail = topic_detail(topic_or_404(cluster, name), now=frame.now)
    return context(
        frame,
        topic=detail,
        groups=[(row, frame.to("group", cluster, row.group, topic=name)) for row in detail.groups],
        brokers=[(row, ACCESS[row.access], warnings(row)) for row in detail.brokers],
        drawn=min(len(detail.groups), DRAWN),
        clusters_href=frame.to("clusters", cluster=cluster),
        figure_query=f"?range={frame.range.name}",
    )


topic, topic_part = refreshing("ownership/topic.html", "ownership/topic_part.html", topic_context, charts=True)


def warnings(row: TopicBroker) -> list[str]:
    """What its permissions mean to producers and consumers."""
    found = []
    if row.access == QueueAccess.READ_ONLY:
        found.append(_("Consumers drain it; producers are sent to other brokers."))
    if row.access == QueueAccess.WRITE_ONLY:
        found.append(_("Messages are stored here that no group can consume."))
    if row.access == QueueAccess.UNEVEN and row.readable_queues is not None and row.writable_queues is not None:
        found.append(
            _("%(readable)s of %(queues)s queues are readable, %(writable)s writable.")
            % {"readable": row.readable_queues, "writable": row.writable_queues, "queues": row.queues}
        )
    if row.broker_writable is False and row.access in (QueueAccess.READ_WRITE, QueueAccess.UNEVEN):
        found.append(_("The broker itself is read-only: it refuses messages."))
    if row.broker_readable is False:
        found.append(_("The broker itself is not readable: nothing is consumed from it."))
    return found


# Figures: each draws the groups with the most lag in the topic.


@page
def topic_lag(request: HttpRequest, cluster: str, topic: str) -> HttpResponse:
    return _of_groups(request, cluster, topic, "lag_messages", MESSAGES)


@page
def topic_time_lag(request: HttpRequest, cluster: str, topic: str) -> HttpResponse:
    return _of_groups(request, cluster, topic, "time_lag_seconds", TIME)


@page
def topic_rates(request: HttpRequest, cluster: str, topic: str) -> HttpResponse:
    """Returns the produce rate of the topic, and the consume rate of each of its groups."""
    now = timezone.now()
    found = topic_or_404(cluster, topic)
    shown = _charted(request, now, found)
    histories = _histories(found, shown, now)
    lines = [(_line(history, "consume_rate", name), _colour(i)) for i, (name, history) in enumerate(histories)]
    produced = produced_history(found, shown.since, shown.until, now)
    if produced is not None:
        points = produced_rates(produced, list(found.queues.all()))
        line = Line(_("produced"), [point.rate for point in points], [point.why or None for point in points])
        # Groups have the colours of series.
        lines.insert(0, (line, TOTAL))
    return JsonResponse(_drawn([*(history for _name, history in histories), produced], lines, RATE, shown, now))


def _of_groups(request: HttpRequest, cluster: str, topic: str, field: str, scale: Scale) -> JsonResponse:
    now = timezone.now()
    found = topic_or_404(cluster, topic)
    shown = _charted(request, now, found)
    histories = _histories(found, shown, now)
    lines = [(_line(history, field, name), _colour(i)) for i, (name, history) in enumerate(histories)]
    drawn = _drawn([history for _name, history in histories], lines, scale, shown, now)
    return JsonResponse(on_scale(request, drawn, scale))


def _charted(request: HttpRequest, now: datetime, topic: Topic) -> Range:
    return range_of(request, now).collected_from(topic.first_seen_at)


def _histories(topic: Topic, shown: Range, now: datetime) -> list[tuple[str, History]]:
    detail: TopicDetail = topic_detail(topic, now=now)
    most = sorted((row for row in detail.groups if row.queues), key=lambda row: -(row.lag_messages_at_least or 0))
    return [
        (row.group, history_of(topic.cluster.name, row.group, shown, now, "topic", named={"topic": topic.name}))
        for row in most[:DRAWN]
    ]


def _colour(place: int) -> str:
    return f"var(--series-{place + 1})"


def _line(history: History, field: str, name: str) -> Line:
    points: Sequence[Point] = history.series[0].points if history.series else []
    return line_of(history.series[0], name) if field == "lag_messages" and points else field_line(points, field, name)


def _drawn(
    histories: Sequence[History | None], lines: list[tuple[Line, str]], scale: Scale, shown: Range, now: datetime
) -> Figure:
    """The newest windows that no line has yet are left out. Without a window the axis is that of the range."""
    known = [one for one in histories if one is not None and one.series]
    size = max((closed_windows(line) for line, _colour_of in lines), default=0)
    starts = [point.at for point in known[0].series[0].points[:size]] if known else []
    step = timedelta(seconds=known[0].step_seconds if known else 60)
    cuts = [(cut(line, len(starts)), colour) for line, colour in lines if len(line.values) >= len(starts) > 0]
    return beginning(time_lines(starts, step, cuts, scale, [], until=shown.until), shown.collected_since, now)
