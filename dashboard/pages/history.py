"""The History tab of a group: state changes, rebalances, resets, repeats and incidents as one list, newest first."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy

from consumers.alerts.queries.incidents import incident_marks
from consumers.groups.detail import group_head
from consumers.overview.queries import CHANGES_SHOWN, changes
from consumers.queries.reset_marks import reset_marks
from consumers.rebalances.marks import rebalance_marks
from consumers.rebalances.rows import RebalanceFilters
from consumers.repeats.queries import SHOWN as REPEATS_SHOWN, RepeatFilters, repeat_marks
from dashboard.figures.layout import REBALANCE, REPEAT, RESET
from dashboard.pages.alerts.preview_pictures import SIGNS, incident_words
from dashboard.pages.common.frame import Frame, context, frame_of, group_or_404, refreshing, tabs
from dashboard.pages.common.list_pages import paged
from dashboard.pages.rebalances.rebalances import mark_words
from dashboard.pages.repeats import repeat_mark_words
from dashboard.pages.resets.reset import reset_words
from dashboard.pages.site.problems import UnknownFilter

ROWS = 100


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
    """From `at` to `until`, null where it was at one moment or goes on. `state`: after a change of state; else `sign`
    tells what it is. `href` is empty where no page is about it."""

    at: datetime
    until: datetime | None
    kind: EventKind
    text: str
    href: str = ""
    sign: str = ""
    state: str = ""


def history_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    group = group_or_404(cluster, name)
    chosen = request.GET.get("kind", "")
    if chosen and chosen not in list(EventKind):
        raise UnknownFilter("kind", chosen, EventKind)
    found = {kind: list(events(frame, cluster, name)) for kind, events in SOURCES.items()}
    rows = [event for kind, events in found.items() if chosen in ("", kind) for event in events]
    rows.sort(key=lambda event: event.at, reverse=True)
    shown, paging = paged(frame, rows, ROWS)
    return context(
        frame,
        group=group_head(group, now=frame.now),
        tabs=tabs(frame, cluster, name),
        events=shown,
        event_count=len(rows),
        chips=[
            (kind.value, LABELS[kind], len(events), frame.here(kind=None if chosen == kind else kind), chosen == kind)
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
        text, href = incident_words(mark, frame.now), frame.to("incident", mark.id)
        yield Event(mark.since, mark.until, EventKind.INCIDENT, text, href, SIGNS[mark.severity])  # type: ignore[index]


SOURCES = {
    EventKind.STATE: _states,
    EventKind.REBALANCE: _rebalances,
    EventKind.RESET: _resets,
    EventKind.REPEAT: _repeats,
    EventKind.INCIDENT: _incidents,
}
# Older ones of the range are left out.
MOST = {EventKind.STATE: CHANGES_SHOWN, EventKind.REPEAT: REPEATS_SHOWN}
