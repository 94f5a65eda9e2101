"""One group: its state and the rule that says so, its lag over time, its queues and its members; and its history."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy

from consumers.alerts.measured import Subject
from consumers.alerts.notes import Notes
from consumers.alerts.queries.incidents import (
    MARKS_SHOWN as INCIDENTS_SHOWN,
    and_not_now,
    incident_marks,
    open_incidents,
    why_not_seen,
)
from consumers.groups.detail import group_detail, group_head
from consumers.groups.late_queues import RANKS
from consumers.groups.queue_rows import QueueRow
from consumers.groups.rows import GroupDetail
from consumers.models import SubjectKind, TopicKind
from consumers.overview.queries import CHANGES_SHOWN, changes
from consumers.queries.reset_marks import MARKS_SHOWN as RESETS_SHOWN, reset_marks
from consumers.queries.unwatched import is_partly_watched
from consumers.rebalances.events import EPISODES_SHOWN, rebalance_marks
from consumers.rebalances.rows import RebalanceFilters
from consumers.repeats import SHOWN as REPEATS_SHOWN, RepeatFilters, repeat_marks
from consumers.rest.requests import narrowed
from consumers.vocabulary.states import State
from dashboard.figures.layout import REBALANCE, REPEAT, RESET
from dashboard.pages.alerts.preview_pictures import course_words
from dashboard.pages.common.figures import mark_words
from dashboard.pages.common.frame import Choice, Frame, context, frame_of, group_or_404, no_group, refreshing, tabs
from dashboard.pages.common.list_pages import paged, sorting_column
from dashboard.pages.findings import group_findings
from dashboard.pages.repeats import repeat_mark_words
from dashboard.pages.reset import reset_words
from dashboard.pages.site.problems import UnknownFilter

from .group_offsets import loss_context

ROWS = 100
# What queues are sorted by: the worst state first, unless somebody chooses another column.
QUEUE, STATE = "queue", "state"
# Label, unit, and whether it is a number.
QUEUE_COLUMNS = {
    QUEUE: (gettext_lazy("Queue"), gettext_lazy("topic / broker / ID"), False),
    STATE: (gettext_lazy("State"), "", False),
    "lag_messages": (gettext_lazy("Lag"), gettext_lazy("messages"), True),
    "time_lag_seconds": (gettext_lazy("Time lag"), "", True),
}


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
    ordering = read("ordering") or STATE
    if ordering.removeprefix("-") not in QUEUE_COLUMNS:
        raise UnknownFilter("ordering", ordering, list(QUEUE_COLUMNS))
    own = _own(detail.queue_rows)
    rows = [row for row in own if _is_chosen(row, topic, with_lag=only_lag == "1")]
    shown, paging = paged(frame, in_order(rows, ordering), ROWS)
    return {
        "heads": [
            sorting_column(frame, ordering, name, str(label), str(unit), is_number=is_number)
            for name, (label, unit, is_number) in QUEUE_COLUMNS.items()
        ],
        "queues": shown,
        "queue_count": len(rows),
        "only_lag": only_lag == "1" and bool(own),
        "chosen_topic": topic,
        "lag_choices": [
            Choice(_("all queues"), frame.here(lag=None), not only_lag),
            Choice(_("with lag or unknown"), frame.here(lag="1"), only_lag == "1"),
        ],
        "topic_choices": [Choice(_("all topics"), frame.here(topic=None), not topic)]
        + [Choice(name, frame.here(topic=name), name == topic) for name in topics],
        **paging,
    }


def in_order(rows: list[QueueRow], ordering: str) -> list[QueueRow]:
    """`rows`: by topic, broker and id; ties stay so. By state a queue keeps its place until its state changes."""
    column, descending = ordering.removeprefix("-"), ordering.startswith("-")
    if column == QUEUE:
        return rows[::-1] if descending else rows
    if column == STATE:
        # Queues of retired topics have none: below OK.
        return sorted(rows, key=lambda row: RANKS[State(row.state)] if row.state else len(RANKS), reverse=descending)
    return narrowed(rows, {"ordering": ordering})


def _own(rows: list[QueueRow]) -> list[QueueRow]:
    """Without the group's dead letters: nobody consumes them, so they have no position."""
    return [row for row in rows if row.kind != TopicKind.DLQ]


def _is_chosen(row: QueueRow, topic: str, *, with_lag: bool) -> bool:
    return topic in ("", row.topic) and (row.lag_messages != 0 or not with_lag)


# The History tab of a group: state changes, rebalances, resets, repeats and incidents as one list, newest first.
EVENTS_SHOWN = 100


class EventKind(StrEnum):
    STATE = "state"
    REBALANCE = "rebalance"
    RESET = "reset"
    REPEAT = "repeat"
    INCIDENT = "incident"


LABELS = {
    EventKind.STATE: gettext_lazy("States"),
    EventKind.REBALANCE: gettext_lazy("Rebalances"),
    EventKind.RESET: gettext_lazy("Resets"),
    EventKind.REPEAT: gettext_lazy("Repeats"),
    EventKind.INCIDENT: gettext_lazy("Incidents"),
}


@dataclass(frozen=True)
class Event:
    """From `at` to `until`, null where it was at one moment or goes on. `state`: after a change of state;
    `severity`: of an incident; else `sign` tells what it is. `href` is empty where no page is about it."""

    at: datetime
    until: datetime | None
    kind: EventKind
    text: str
    href: str = ""
    sign: str = ""
    state: str = ""
    severity: str = ""


@dataclass(frozen=True)
class Chip:
    """Of one kind: how many happened, `at_least` where there may have been more."""

    kind: EventKind
    count: int
    href: str
    is_chosen: bool
    at_least: bool

    @property
    def label(self) -> str:
        return str(LABELS[self.kind])


def history_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    group = group_or_404(cluster, name)
    chosen = request.GET.get("kind", "")
    if chosen and chosen not in list(EventKind):
        raise UnknownFilter("kind", chosen, EventKind)
    found = {kind: list(events(frame, cluster, name)) for kind, events in SOURCES.items()}
    rows = [event for kind, events in found.items() if chosen in ("", kind) for event in events]
    rows.sort(key=lambda event: event.at, reverse=True)
    shown, paging = paged(frame, rows, EVENTS_SHOWN)
    is_partial = is_partly_watched(cluster, name, frame.range.since, frame.range.until)
    incidents_not_seen = and_not_now(why_not_seen(frame.range.since, frame.range.until), frame.now)
    # Resets are made here.
    partial = {kind for kind in EventKind if is_partial and kind != EventKind.RESET}
    partial |= {EventKind.INCIDENT} if incidents_not_seen else set()
    return context(
        frame,
        group=group_head(group, now=frame.now),
        tabs=tabs(frame, cluster, name),
        events=shown,
        event_count=len(rows),
        is_partial=is_partial,
        incidents_not_seen=incidents_not_seen,
        chips=[
            Chip(kind, len(events), frame.here(kind=None if chosen == kind else kind), chosen == kind, kind in partial)
            for kind, events in found.items()
            if events or chosen == kind
        ],
        cut=[LABELS[kind] for kind, most in MOST.items() if len(found[kind]) >= most],
        **paging,
    )


group_history, group_history_part = refreshing(
    "history/group_history.html", "history/group_history_part.html", history_context
)


def _states(frame: Frame, cluster: str, group: str) -> Iterator[Event]:
    for change in changes(cluster=cluster, group=group, since=frame.range.since, until=frame.range.until):
        yield Event(change.at, None, EventKind.STATE, change.sentence, state=change.after)


def _rebalances(frame: Frame, cluster: str, group: str) -> Iterator[Event]:
    wanted = RebalanceFilters(
        cluster=cluster, group=group, since=frame.range.since, until=frame.range.until, touching=True
    )
    for mark in rebalance_marks(wanted):
        if mark.rebalances > 1:
            href = frame.to("rebalances", group=group, cluster=cluster)
        else:
            href = frame.to("rebalance", cluster, group, mark.at)
        yield Event(mark.since, mark.until, EventKind.REBALANCE, mark_words(mark), href, REBALANCE)


def _resets(frame: Frame, cluster: str, group: str) -> Iterator[Event]:
    for mark in reset_marks(cluster=cluster, group=group, since=frame.range.since, until=frame.range.until):
        yield Event(mark.since, mark.until, EventKind.RESET, reset_words(mark), frame.to("reset", mark.id), RESET)


def _repeats(frame: Frame, cluster: str, group: str) -> Iterator[Event]:
    wanted = RepeatFilters(
        cluster=cluster, group=group, since=frame.range.since, until=frame.range.until, touching=True
    )
    href = frame.to("group_repeats", cluster, group)
    for mark in repeat_marks(wanted):
        yield Event(mark.since, mark.until, EventKind.REPEAT, repeat_mark_words(mark), href, REPEAT)


def _incidents(frame: Frame, cluster: str, group: str) -> Iterator[Event]:
    for mark in incident_marks(cluster=cluster, group=group, since=frame.range.since, until=frame.range.until):
        text, href = course_words(mark, frame.now), frame.to("incident", mark.id)
        yield Event(mark.since, mark.until, EventKind.INCIDENT, text, href, severity=mark.severity)


SOURCES = {
    EventKind.STATE: _states,
    EventKind.REBALANCE: _rebalances,
    EventKind.RESET: _resets,
    EventKind.REPEAT: _repeats,
    EventKind.INCIDENT: _incidents,
}
# Older ones of the range are left out.
MOST = {
    EventKind.STATE: CHANGES_SHOWN,
    EventKind.REBALANCE: EPISODES_SHOWN,
    EventKind.RESET: RESETS_SHOWN,
    EventKind.REPEAT: REPEATS_SHOWN,
    EventKind.INCIDENT: INCIDENTS_SHOWN,
}
