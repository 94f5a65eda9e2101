"""Rebalances of all groups, and of one group over time."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from consumers.clusters.queries import pipeline_status
from consumers.rebalances.events import cause_counts, rebalance_counts, rebalance_list
from consumers.rebalances.flapping import flapping_groups
from consumers.rebalances.marks import Mark, rebalance_marks
from consumers.rebalances.rows import EventPage, RebalanceEvent, RebalanceFilters
from consumers.vocabulary.reasons import RebalanceCause
from consumers.words.reasons import cause_words
from dashboard.figures.layout import Span
from dashboard.pages.common.frame import Frame, context, frame_of, refreshing
from dashboard.pages.common.list_pages import page_links, page_number
from dashboard.pages.common.moments import RANGES, Range
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.numbers import clock

# Rebalances: what happened to the members and queues of all groups, newest first; and which groups flap.
ROWS, FLAPPING = 50, 10


@dataclass(frozen=True)
class Line:
    """A row of the list. `follows`: the row above is a later rebalance of the same episode."""

    event: RebalanceEvent
    href: str
    group_href: str
    follows: bool


def rebalances_context(request: HttpRequest) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    filters = filters_of(frame)
    found = rebalance_list(filters, page=page_number(request), page_size=ROWS)
    flapping = [] if filters.group else flapping_groups(frame.cluster, frame.now)
    return context(
        frame,
        found=found,
        lines=lines_of(frame, found.rows),
        chips=_chips(frame, filters),
        group=filters.group,
        every_group=frame.here(group=None),
        is_filtered=bool(filters.group or filters.cause),
        flapping=[(row, frame.here(group=row.group, cluster=row.cluster, cause=None)) for row in flapping[:FLAPPING]],
        flapping_more=max(0, len(flapping) - FLAPPING),
        many_clusters=frame.cluster is None and len(frame.clusters) > 1,
        pipeline=pipeline_status(frame.now),
        newest=None if found.count else _newest(frame, filters),
        links=page_links(frame, found.page, found.pages),
        first=(found.page - 1) * ROWS + 1,
        last=(found.page - 1) * ROWS + len(found.rows),
    )


rebalances, rebalances_part = refreshing(
    "rebalances/rebalances.html", "rebalances/rebalances_part.html", rebalances_context
)


def filters_of(frame: Frame) -> RebalanceFilters:
    """The rebalances that touch the page's range."""
    cause = frame.request.GET.get("cause", "")
    if cause and cause not in list(RebalanceCause):
        raise UnknownFilter("cause", cause, RebalanceCause)
    return RebalanceFilters(
        cluster=frame.cluster,
        group=frame.request.GET.get("group") or None,
        cause=RebalanceCause(cause) if cause else None,
        since=frame.range.since,
        until=frame.range.until,
        touching=True,
    )


def lines_of(frame: Frame, events: list[RebalanceEvent]) -> list[Line]:
    """An episode's rebalances stand together, where its newest stands."""
    episodes: dict[tuple[str, str, object], list[RebalanceEvent]] = {}
    for event in events:
        episodes.setdefault((event.cluster, event.group, event.episode_since), []).append(event)
    return [
        Line(
            event,
            frame.to("rebalance", event.cluster, event.group, event.at),
            frame.group(event.cluster, event.group),
            number > 0,
        )
        for episode in episodes.values()
        for number, event in enumerate(episode)
    ]


def _chips(frame: Frame, filters: RebalanceFilters) -> list[tuple[str, int, str, bool]]:
    """For each cause that there is: its word, how many have it, the address that shows only these (or all again)."""
    counts = cause_counts(filters)
    if filters.cause:
        counts.setdefault(filters.cause, 0)
    return [
        (cause_words(cause), n, frame.here(cause=None if filters.cause == cause else cause), filters.cause == cause)
        for cause, n in counts.items()
    ]


def _newest(frame: Frame, filters: RebalanceFilters) -> tuple[RebalanceEvent, str] | None:
    """The newest at all, and the address with the range that holds it, where one does."""
    of_any_time = RebalanceFilters(cluster=filters.cluster, group=filters.group, cause=filters.cause)
    found: EventPage = rebalance_list(of_any_time, page_size=1)
    if not found.rows:
        return None
    age = frame.now - found.rows[0].started_before
    longer = next((name for name, length in RANGES.items() if length > age), None)
    return found.rows[0], frame.here(range=longer) if longer else ""


# Rebalances of a group as bands on the time axis of its figures.
def rebalance_spans(cluster: str, group: str, shown: Range) -> list[Span]:
    found = rebalance_marks(
        RebalanceFilters(cluster=cluster, group=group, since=shown.since, until=shown.until, touching=True)
    )
    return [
        Span(mark.since, mark.until, f"{clock(mark.since, shown.until)} UTC · {mark_words(mark)}") for mark in found
    ]


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
    return _("rebalance: %s") % ", ".join(cause_words(cause) for cause in mark.causes)
