"""Rebalances of all groups and of one group over time; and one rebalance: its evidence, the owners of each queue before
and after, and its cost.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from consumers.clusters.pipeline_runs import pipeline_status
from consumers.queries.unwatched import is_partly_watched
from consumers.rebalances.detail import rebalance_detail
from consumers.rebalances.events import cause_counts, rebalance_list
from consumers.rebalances.flapping import flapping_groups
from consumers.rebalances.rows import EventPage, Move, RebalanceDetail, RebalanceEvent, RebalanceFilters, TopicCost
from consumers.vocabulary.reasons import RebalanceCause
from consumers.words.reasons import cause_words
from dashboard.figures.layout import Figure, Span
from dashboard.figures.offset_bars import QueueEnds, before_after, colour_places
from dashboard.pages.common.figures import lag_figure
from dashboard.pages.common.frame import Frame, context, frame_of, page, refreshing
from dashboard.pages.common.list_pages import page_links, page_number
from dashboard.pages.common.moments import RANGES, Range
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.numbers import count

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
    is_partial = is_partly_watched(filters.cluster, filters.group, frame.range.since, frame.range.until)
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
        is_partial=is_partial,
        found_total=f"≥ {count(found.count)}" if is_partial else count(found.count),
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
    """Returns the rebalances of an episode together, at the place of the newest."""
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


# What the page of one rebalance shows of its members and queues: who came and went, who held what before and after.

MOVES_SHOWN = 40


@dataclass(frozen=True)
class MemberLine:
    """A member with the colour of its queues. Null numbers: of a queue it is not known who held it."""

    client_id: str
    colour: int
    came: bool
    went: bool
    before: int | None
    after: int | None


@dataclass(frozen=True)
class TopicView:
    topic: TopicCost
    picture: SafeString
    moves: Sequence[Move]
    hidden: int


def member_lines(detail: RebalanceDetail) -> list[MemberLine]:
    """Those that came and went first, then by id."""
    ends = [end for topic in detail.topics for end in queue_ends(topic)]
    before, after = set(detail.client_ids_before or ()), set(detail.client_ids_after or ())
    is_known = detail.client_ids_before is not None and detail.client_ids_after is not None
    lines = [
        MemberLine(
            client_id=owner,
            colour=colour,
            came=is_known and owner not in before and owner in after,
            went=is_known and owner in before and owner not in after,
            before=_held(owner, [end.before for end in ends]),
            after=_held(owner, [end.after for end in ends]),
        )
        for owner, colour in colours_of(detail).items()
    ]
    return sorted(lines, key=lambda line: (not line.came, not line.went, line.client_id))


def topic_views(detail: RebalanceDetail, *, all_moves: bool) -> list[TopicView]:
    return list(_topic_views(detail, all_moves))


def colours_of(detail: RebalanceDetail) -> dict[str, int]:
    """Everybody who was in the group or held a queue, by id."""
    owners = {*(detail.client_ids_before or ()), *(detail.client_ids_after or ())}
    for topic in detail.topics:
        for end in queue_ends(topic):
            owners |= {*(end.before or ()), *(end.after or ())}
    return colour_places(sorted(owners))


def queue_ends(topic: TopicCost) -> list[QueueEnds]:
    """Where it is not known what moved, it is not known who held a queue before that is not among the moves."""
    ends = [QueueEnds(move.broker, move.queue_id, move.before, move.after, False) for move in topic.moves]
    known = topic.cost.queues_moved is not None
    return ends + [
        QueueEnds(one.broker, one.queue_id, one.owners if known else None, one.owners, known or None)
        for one in topic.stayed
    ]


def _topic_views(detail: RebalanceDetail, all_moves: bool) -> Iterator[TopicView]:
    colours = colours_of(detail)
    for topic in detail.topics:
        shown = topic.moves if all_moves else topic.moves[:MOVES_SHOWN]
        ends = queue_ends(topic)
        picture = before_after(ends, colours, _label(topic)) if ends else SafeString("")
        yield TopicView(topic, picture, shown, len(topic.moves) - len(shown))


def _label(topic: TopicCost) -> str:
    moved = topic.cost.queues_moved
    if moved is None:
        return _("owners of the queues of %s before and after; which queues moved is unknown") % topic.topic
    words = {"n": count(moved), "topic": topic.topic, "all": count(len(queue_ends(topic)))}
    text = _("%(n)s of %(all)s queues of %(topic)s moved")
    return _("before (top) and after (bottom): %s") % (text % words)


def _held(owner: str, ends: list[tuple[str, ...] | None]) -> int | None:
    """How many queues it held; null where of one it is not known who did."""
    if not ends or any(end is None for end in ends):
        return None
    return sum(owner in (end or ()) for end in ends)


@page
def rebalance_figure(request: HttpRequest, cluster: str, group: str, at: str) -> HttpResponse:
    return JsonResponse(figure_around(found_or_404(cluster, group, at), timezone.now()))


def rebalance_context(request: HttpRequest, cluster: str, group: str, at: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    every = request.GET.get("all", "")
    if every not in ("", "1"):
        raise UnknownFilter("all", every, ["1"])
    detail = found_or_404(cluster, group, at)
    return context(
        frame,
        event=detail,
        members=member_lines(detail),
        topics=topic_views(detail, all_moves=every == "1"),
        others=lines_of(frame, detail.others_of_episode),
        of_group=frame.to("rebalances", group=group, cluster=cluster),
        group_href=frame.group(cluster, group),
        every_move=frame.here(all="1"),
    )


rebalance, rebalance_part = refreshing(
    "rebalances/rebalance.html", "rebalances/rebalance_part.html", rebalance_context, charts=True
)


def found_or_404(cluster: str, group: str, at: str) -> RebalanceDetail:
    detail = rebalance_detail(cluster, group, at)
    if detail is None:
        words = {"group": group, "cluster": cluster, "at": at}
        raise Http404(_("No rebalance of “%(group)s” on “%(cluster)s” at %(at)s.") % words)
    return detail


# The lag of a group around one of its rebalances, with the time that it took marked.

BEFORE, AFTER = timedelta(minutes=10), timedelta(minutes=20)
# In windows of ten minutes.
LONG_BEFORE, LONG_AFTER = timedelta(hours=2), timedelta(hours=4)


def figure_around(event: RebalanceEvent, now: datetime) -> Figure:
    """In windows of a minute, or of ten where those of a minute are not kept any more."""
    begun, settled = event.started_after or event.started_before, event.settled_at or event.last_change_at
    is_old = now - begun > timedelta(days=settings.LAKE_MINUTE_WINDOW_DAYS)
    before, after = (LONG_BEFORE, LONG_AFTER) if is_old else (BEFORE, AFTER)
    shown = Range("", begun - before, min(now, settled + after))
    span = Span(begun, settled, _("the rebalance, from the last scrape before it to its end"))
    return lag_figure(event.cluster, event.group, shown, now, [span], 600 if is_old else 60)
