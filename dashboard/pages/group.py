"""One group: its state and the rule that says so, its lag over time, its queues and its members."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.alerts.measured import Subject
from consumers.alerts.notes import Notes
from consumers.alerts.queries.incidents import open_incidents
from consumers.groups.detail import group_detail
from consumers.groups.queue_rows import QueueRow
from consumers.groups.rows import GroupDetail
from consumers.models import SubjectKind, TopicKind
from dashboard.pages.common.frame import Choice, Frame, context, frame_of, no_group, refreshing
from dashboard.pages.common.list_pages import paged
from dashboard.pages.findings import group_findings
from dashboard.pages.site.problems import UnknownFilter

from .common.frame import tabs
from .group_offsets import loss_context

ROWS = 100


def group_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    detail = group_detail(cluster, name, now=frame.now)
    if detail is None:
        raise no_group(cluster, name)
    incidents = open_incidents([detail.id]).get(detail.id, [])
    return context(
        frame,
        group=detail,
        tabs=tabs(frame, cluster, name),
        figure_query=f"?range={frame.range.name}",
        incidents=[(row, frame.to("incident", row.id)) for row in incidents if row.is_firing],
        evaluation=frame.evaluation,
        noted=Notes.of_site().said(Subject(SubjectKind.GROUP, cluster=cluster, group=name, group_id=detail.id)),
        **group_findings(frame, cluster, name),
        **_queues(frame, detail),
        **(_losses(frame, detail) if detail.lost_queues else {}),
    )


group, group_part = refreshing("groups/group.html", "groups/group_head_part.html", group_context, charts=True)


def _losses(frame: Frame, detail: GroupDetail) -> dict[str, Any]:
    return loss_context(frame, detail.cluster, detail.group, detail.queue_rows)


def _queues(frame: Frame, detail: GroupDetail) -> dict[str, Any]:
    read = frame.request.GET.get
    topic, only_lag = read("topic", ""), read("lag", "")
    if only_lag not in ("", "1"):
        raise UnknownFilter("lag", only_lag, ["1"])
    topics = [row.topic for row in detail.topics if row.kind != TopicKind.DLQ]
    if topic and topic not in topics:
        raise UnknownFilter("topic", topic, topics)
    rows = [row for row in _own(detail.queue_rows) if _is_chosen(row, topic, with_lag=only_lag == "1")]
    shown, paging = paged(frame, rows, ROWS)
    return {
        "queues": shown,
        "queue_count": len(rows),
        "only_lag": only_lag == "1",
        "lag_choices": [
            Choice(_("all queues"), frame.here(lag=None), not only_lag),
            Choice(_("with lag or unknown"), frame.here(lag="1"), only_lag == "1"),
        ],
        "topic_choices": [Choice(_("all topics"), frame.here(topic=None), not topic)]
        + [Choice(name, frame.here(topic=name), name == topic) for name in topics],
        **paging,
    }


def _own(rows: list[QueueRow]) -> list[QueueRow]:
    """Without the group's dead letters: nobody consumes them, so they have no position."""
    return [row for row in rows if row.kind != TopicKind.DLQ]


def _is_chosen(row: QueueRow, topic: str, *, with_lag: bool) -> bool:
    return topic in ("", row.topic) and (row.lag_messages != 0 or not with_lag)
