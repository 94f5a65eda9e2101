"""Repeats of all groups, and of one group over time; and the attempts of one message in a group: a form for its ID or
key, and what the general worker finds.

The page of a message asks for the look-up, and a part of it asks for the answer until there is one. Looking up needs
the permission to see bodies; no body is shown.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _

from consumers.clusters.pipeline_runs import pipeline_status
from consumers.dead_letters.inspection import MAY_SEE, InspectionKey
from consumers.groups.detail import group_head
from consumers.jobs.asking import PATIENCE, RedisDown
from consumers.jobs.permissions import may, why_not
from consumers.messages.queries import message_attempts as attempts_of
from consumers.messages.rows import MessageAttemptsRow
from consumers.messages.tasks import LookupRefused, WantedMessage, ask_lookup, checked, lookup_answer
from consumers.models import ConsumerGroup
from consumers.offsets.stores import group_offsets
from consumers.queries.unwatched import is_partly_watched
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
from dashboard.pages.common.awaited import AwaitedAnswer, awaited_answer
from dashboard.pages.common.frame import Frame, context, frame_of, group_or_404, page, part, refreshing, tabs
from dashboard.pages.common.list_pages import page_links, page_number
from dashboard.pages.common.moments import Range
from dashboard.pages.group_offsets import shown, total
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.numbers import again, count, zoned

ROWS = 50
QUEUES_SHOWN = 50


@dataclass(frozen=True)
class RepeatLine:
    """A row of the list. `parts_more`: how many of its queues the page does not show. `opens_possible`: the first of
    the page whose cause is only possible."""

    row: RepeatRow
    href: str
    opens_possible: bool = False

    @property
    def parts(self) -> Sequence[Any]:
        return self.row.queues[:QUEUES_SHOWN]

    @property
    def parts_more(self) -> int:
        return max(0, len(self.row.queues) - QUEUES_SHOWN)


@dataclass(frozen=True)
class CauseLine:
    """Of one cause: how many events and messages, and the address that shows only these, or all again. `is_partial`:
    there may be more of both."""

    total: CauseTotal
    href: str
    is_chosen: bool
    is_partial: bool

    @property
    def messages(self) -> str | None:
        return again(self.total.low, None if self.is_partial else self.total.high)


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
    is_partial = is_partly_watched(cluster, group, frame.range.since, frame.range.until)
    return {
        "found": found,
        "is_partial": is_partial,
        "found_total": f"≥ {count(found.count)}" if is_partial else count(found.count),
        "lines": _lines(frame, found.rows),
        # A remedy is of a cause: it is said once, below the rows.
        "remedies": [row for row in {row.cause: row for row in found.rows}.values() if row.action or row.prevented_by],
        "totals": _cause_lines(frame, filters, is_partial),
        "is_filtered": bool(filters.cause or (group and frame.request.GET.get("group"))),
        "pipeline": pipeline_status(frame.now),
        "links": page_links(frame, found.page, found.pages),
        "first": (found.page - 1) * ROWS + 1,
        "last": (found.page - 1) * ROWS + len(found.rows),
    }


def _lines(frame: Frame, rows: Sequence[RepeatRow]) -> list[RepeatLine]:
    first = next((row for row in rows if row.confidence is Confidence.POSSIBLE), None)
    return [RepeatLine(row, frame.to("group_repeats", row.cluster, row.group), row is first) for row in rows]


def _cause(frame: Frame) -> RepeatCause | None:
    cause = frame.request.GET.get("cause", "")
    if cause and cause not in list(RepeatCause):
        raise UnknownFilter("cause", cause, RepeatCause)
    return RepeatCause(cause) if cause else None


def _cause_lines(frame: Frame, filters: RepeatFilters, is_partial: bool) -> list[CauseLine]:
    return [
        CauseLine(
            total,
            frame.here(cause=None if filters.cause == total.cause else total.cause),
            filters.cause == total.cause,
            is_partial,
        )
        for total in cause_totals(filters)
    ]


# Repeats of a group as bands on the time axis of its figures.
def repeat_spans(cluster: str, group: str, shown: Range) -> list[Span]:
    found = repeat_marks(
        RepeatFilters(cluster=cluster, group=group, since=shown.since, until=shown.until, touching=True)
    )
    return [
        Span(mark.since, mark.until, f"{zoned(mark.since, shown.until)} · {repeat_mark_words(mark)}", REPEAT)
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


LookupView = AwaitedAnswer[MessageAttemptsRow]


@page
def message_attempts(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found, now = group_or_404(cluster, group), timezone.now()
    view, token = LookupView(), request.GET.get("look")
    if request.GET.get("message"):
        view = _answer(request, found, token, now) if token else _ask(request, found, now)
    frame = frame_of(request, now)
    shown = _shown(frame, found, view) | {
        "tabs": tabs(frame, cluster, group),
        "group": group_head(found, now=now),
    }
    return render(request, "messages/attempts.html", shown, status=view.status)


@part
def message_attempts_part(request: HttpRequest, cluster: str, group: str, look: str) -> HttpResponse:
    found, now = group_or_404(cluster, group), timezone.now()
    shown = _shown(frame_of(request, now), found, _answer(request, found, look, now))
    return render(request, "messages/attempts_part.html", shown)


def _wanted(request: HttpRequest, group: ConsumerGroup) -> WantedMessage:
    """Raises LookupRefused."""
    text, topic = request.GET.get("message", ""), request.GET.get("topic", "").strip()
    return checked(WantedMessage(group.cluster.name, group.name, text, topic or None))


def _ask(request: HttpRequest, group: ConsumerGroup, now: datetime) -> LookupView:
    if not may(request.user, MAY_SEE, group.cluster.name):
        return LookupView()
    try:
        return LookupView(ask_lookup(request.user, _wanted(request, group), now).token)
    except (LookupRefused, RedisDown) as error:
        return LookupView(sentence=str(error))


def _answer(request: HttpRequest, group: ConsumerGroup, token: str, now: datetime) -> LookupView:
    user_id = request.user.pk
    if user_id is None or not may(request.user, MAY_SEE, group.cluster.name):
        return LookupView()
    answer = awaited_answer(
        token,
        lambda: lookup_answer(InspectionKey(user_id, True, token), _wanted(request, group)),
        now=now,
        patience=PATIENCE,
        expired=_("This result has expired: results are retained for 2 minutes. Look it up again."),
    )
    attempts = None if answer.result is None else attempts_of(group, answer.result)
    return LookupView(token, attempts, answer.sentence, answer.is_expired)


def form_context(frame: Frame, cluster: str, group: str) -> dict[str, Any]:
    """What the form needs, on this page and on others."""
    return {
        "place": {"cluster": cluster, "group": group},
        "wanted": frame.request.GET.get("message", "").strip(),
        "topic": frame.request.GET.get("topic", "").strip(),
        "missing_role": why_not(frame.request.user, MAY_SEE, cluster),
    }


def _shown(frame: Frame, group: ConsumerGroup, view: LookupView) -> dict[str, Any]:
    place = group.cluster.name, group.name
    return context(
        frame,
        **form_context(frame, *place),
        view=view,
        again=frame.here(look=None),
        show=frame.here(look=view.token),
        repeats_href=frame.to("group_repeats", *place),
    )
