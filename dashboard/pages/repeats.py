"""Repeats of all groups, and of one group over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.clusters.queries import pipeline_status
from consumers.groups.detail import group_head
from consumers.offsets.stores import group_offsets
from consumers.repeats import (
    CauseTotal,
    RepeatFilters,
    RepeatMark,
    RepeatRow,
    cause_totals,
    repeat_list,
    repeat_marks,
)
from consumers.vocabulary.repeats import Confidence, RepeatCause
from consumers.words.repeats import repeat_cause_words
from dashboard.figures.layout import REPEAT, Span
from dashboard.pages.common.frame import Frame, context, frame_of, group_or_404, refreshing, tabs
from dashboard.pages.common.list_pages import page_links, page_number
from dashboard.pages.common.moments import Range
from dashboard.pages.group_offsets import shown, total
from dashboard.pages.message_attempts import form_context
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.numbers import again, clock

ROWS = 50
QUEUES_SHOWN = 50


@dataclass(frozen=True)
class RepeatLine:
    """A row of the list. `parts_more`: how many of its queues the page does not show."""

    row: RepeatRow
    href: str

    @property
    def parts(self) -> Sequence[Any]:
        return self.row.parts[:QUEUES_SHOWN]

    @property
    def parts_more(self) -> int:
        return max(0, len(self.row.parts) - QUEUES_SHOWN)


@dataclass(frozen=True)
class CauseLine:
    """Of one cause: how many events and messages, and the address that shows only these, or all again."""

    total: CauseTotal
    href: str
    is_chosen: bool

    @property
    def messages(self) -> str | None:
        return again(self.total.low, self.total.high)


def repeats_context(request: HttpRequest) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    group = request.GET.get("group") or None
    return context(
        frame,
        **listed_repeats(frame, frame.cluster, group),
        group_filter=group,
        every_group=frame.here(group=None),
        many_clusters=frame.cluster is None and len(frame.clusters) > 1,
        with_group=True,
    )


repeats, repeats_part = refreshing("repeats/repeats.html", "repeats/repeats_part.html", repeats_context)


def listed_repeats(frame: Frame, cluster: str | None, group: str | None) -> dict[str, Any]:
    """What the list needs, of all groups or of one: the repeats that touch the page's range."""
    filters = RepeatFilters(
        cluster=cluster,
        group=group,
        cause=_cause(frame),
        since=frame.range.since,
        until=frame.range.until,
        touching=True,
    )
    found = repeat_list(filters, page=page_number(frame.request), page_size=ROWS)
    return {
        "found": found,
        "lines": [RepeatLine(row, frame.to("group_repeats", row.cluster, row.group)) for row in found.rows],
        "totals": _cause_lines(frame, filters),
        "is_filtered": bool(filters.cause or (group and frame.request.GET.get("group"))),
        "pipeline": pipeline_status(frame.now),
        "links": page_links(frame, found.page, found.pages),
        "first": (found.page - 1) * ROWS + 1,
        "last": (found.page - 1) * ROWS + len(found.rows),
    }


def _cause(frame: Frame) -> RepeatCause | None:
    cause = frame.request.GET.get("cause", "")
    if cause and cause not in list(RepeatCause):
        raise UnknownFilter("cause", cause, RepeatCause)
    return RepeatCause(cause) if cause else None


def _cause_lines(frame: Frame, filters: RepeatFilters) -> list[CauseLine]:
    return [
        CauseLine(
            total,
            frame.here(cause=None if filters.cause == total.cause else total.cause),
            filters.cause == total.cause,
        )
        for total in cause_totals(filters)
    ]


# Repeats of a group as bands on the time axis of its figures.
def repeat_spans(cluster: str, group: str, shown: Range) -> list[Span]:
    found = repeat_marks(
        RepeatFilters(cluster=cluster, group=group, since=shown.since, until=shown.until, touching=True)
    )
    return [
        Span(mark.since, mark.until, f"{clock(mark.since, shown.until)} UTC · {repeat_mark_words(mark)}", REPEAT)
        for mark in found
    ]


def repeat_mark_words(mark: RepeatMark) -> str:
    """`redelivered 40 to 120: consumer crashed`, `…: possibly consumer crashed`"""
    words, cause = again(mark.low, mark.high), repeat_cause_words(mark.cause)
    if mark.confidence == Confidence.POSSIBLE:
        cause = _("possibly %(cause)s") % {"cause": cause}
    named = {"cause": cause, "messages": words}
    if words is None:
        return _("redelivered, number unknown: %(cause)s") % named
    return _("redelivered %(messages)s: %(cause)s") % named


# The Repeats tab of a group: what was redelivered and why, and what a crash would redeliver at this moment.


def group_repeats_context(request: HttpRequest, cluster: str, name: str) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    group = group_or_404(cluster, name)
    offsets = group_offsets(group, now=frame.now)
    return context(
        frame,
        group=group_head(group, now=frame.now),
        tabs=tabs(frame, cluster, name),
        offsets=offsets,
        # Members of a broadcasting group go on from files of their own.
        total=None if offsets.is_broadcasting else total(shown(offsets.rows)),
        figure_query=f"?range={frame.range.name}",
        **form_context(frame, cluster, name),
        **listed_repeats(frame, cluster, name),
    )


group_repeats, group_repeats_part = refreshing(
    "repeats/group_repeats.html",
    "repeats/group_repeats_part.html",
    group_repeats_context,
    mark="is_refresh",
    charts=True,
)
