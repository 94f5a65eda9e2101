"""One reset: its queues, its progress, what is done with it, and CSV."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from consumers.jobs.permissions import check, check_somewhere, may, why_not
from consumers.models import Reset, ResetKind, ResetOutcome, ResetStatus
from consumers.queries.codes import RESETS
from consumers.queries.groups import find_group, groups_there
from consumers.queries.reset_marks import ResetMark, reset_marks
from consumers.resets.acts import apply, cancel, restore, resume, why_not_restored
from consumers.resets.offset_csv import group_offsets_csv, queues_csv
from consumers.resets.queries import ResetFilters, find_reset, reset_events, reset_list, span_of
from consumers.resets.request import MAY_RESET, why_not_applied, why_not_cancelled, why_not_resumed
from consumers.resets.rows import ResetRow, reset_queues
from consumers.resets.target_values import ResetRefused
from consumers.resets.tasks import enqueue
from consumers.rest.answers import csv_response
from dashboard.figures.layout import RESET, Span
from dashboard.pages.common.frame import Choice, Frame, context, frame_of, group_or_404, page, refreshing, tabs
from dashboard.pages.common.list_pages import listed
from dashboard.pages.common.moments import Range
from dashboard.pages.reset_plan import FIELDS, ask_for_plan, asker_of
from dashboard.pages.site.problems import UnknownFilter
from dashboard.wording.numbers import zoned
from dashboard.wording.resets import destination

# Offset resets: the list, and marks over time.

# Resets of all groups, and those of one: the newest first.
LISTED_ROWS = 50


@page
def resets(request: HttpRequest) -> HttpResponse:
    frame = frame_of(request, timezone.now())
    return render(request, "resets/resets.html", context(frame, **_listed(frame, cluster=frame.cluster)))


@page
def group_resets(request: HttpRequest, cluster: str, group: str) -> HttpResponse:
    found, frame = group_or_404(cluster, group), frame_of(request, timezone.now())
    shown = {
        "group": found,
        "tabs": tabs(frame, cluster, group),
        "group_href": frame.group(cluster, group),
        "plan_href": frame.to("reset_plan", cluster, group) if may(request.user, MAY_RESET, cluster) else "",
    }
    return render(
        request, "resets/resets.html", context(frame, **shown, **_listed(frame, cluster=cluster, group=group))
    )


def _listed(frame: Frame, *, cluster: str | None, group: str | None = None) -> dict[str, Any]:
    status = frame.request.GET.get("status", "")
    if status and status not in ResetStatus.values:
        raise UnknownFilter("status", status, ResetStatus.values)
    filters = ResetFilters(cluster=cluster, group=group, status=status or None)
    rows, paging = listed(
        frame, LISTED_ROWS, lambda number: reset_list(frame.now, filters, page=number, page_size=LISTED_ROWS)
    )
    there = groups_there({(row.cluster, row.group) for row in rows})
    of_group = [frame.group(*place) if (place := (row.cluster, row.group)) in there else "" for row in rows]
    return {
        "lines": [(row, frame.to("reset", row.id), href) for row, href in zip(rows, of_group, strict=True)],
        "is_filtered": bool(status),
        "status_choices": [Choice(_("all"), frame.here(status=None), not status)]
        + [Choice(str(word), frame.here(status=name), name == status) for name, word in RESETS.items()],
        **paging,
    }


# Resets of a group as bands on the time axis of its figures, and in words.
def reset_spans(cluster: str, group: str, shown: Range) -> list[Span]:
    found = reset_marks(cluster=cluster, group=group, since=shown.since, until=shown.until)
    return [
        Span(
            mark.since,
            mark.until or shown.until,
            f"{zoned(mark.since, shown.until)} · {reset_words(mark)}",
            RESET,
        )
        for mark in found
    ]


def reset_words(mark: ResetMark) -> str:
    """`reset by ann, applied: to offset 40 (orders were lost)`."""
    words = {"by": mark.by, "status": RESETS[ResetStatus(mark.status)], "reason": mark.reason}
    return _("reset by %(by)s, %(status)s: %(where)s (%(reason)s)") % {
        **words,
        "where": destination(mark.kind, mark.value),
    }


# One reset: what it will do, how it goes, what became of each queue, and what can be done with it. A part refreshes
# itself while a worker has it; it is loaded anew when that ends, as other acts are offered then.
# What can be done with a reset on its page, and why not where it cannot.

# Longer lists are not carried along in a page.
MOST_NAMED = 500

LONGEST_QUERY = 2_000


@dataclass(frozen=True)
class Offers:
    """Null where the reader may do it, else the sentence why not. `role`: why the reader may do nothing at all.

    `again`: fields of the form that plans the same anew; none where the list that they would carry is too long.
    `change`: the query that fills the form with them; null where it would be too long.
    """

    role: str | None
    apply: str | None
    resume: str | None
    restore: str | None
    cancel: str | None
    again: list[tuple[str, str]]
    change: str | None


def offers(row: ResetRow, user: Any, now: datetime) -> Offers:
    reset, again = Reset.objects.get(pk=row.id), _again(row)
    return Offers(
        role=why_not(user, MAY_RESET, row.cluster),
        apply=why_not_applied(reset, user, now),
        resume=why_not_resumed(reset, user, now),
        restore=why_not_restored(reset, user),
        cancel=why_not_cancelled(reset, user),
        again=again,
        change=_query(again),
    )


def _again(row: ResetRow) -> list[tuple[str, str]]:
    listed = row.value if row.kind == ResetKind.OFFSETS else []
    named = sum(len(names or ()) for names in (listed, row.topics, row.brokers, row.chosen_queues))
    if row.kind == ResetKind.RESTORE or named > MOST_NAMED:
        return []
    fields = [("kind", row.kind), ("reason", row.reason)]
    if (name := FIELDS.get(ResetKind(row.kind))) is not None:
        fields.append((name, _written(row)))
    fields += [("topic", topic) for topic in row.topics or ()]
    fields += [("broker", broker) for broker in row.brokers or ()]
    fields += [("queue", f"{key['topic']}/{key['broker']}/{key['queue_id']}") for key in row.chosen_queues or ()]
    return [*fields, ("clip", "1")] if row.clip else fields


def _query(fields: list[tuple[str, str]]) -> str | None:
    values = set(FIELDS.values())
    query = urlencode([("value" if name in values else name, value) for name, value in fields])
    return query if fields and len(query) <= LONGEST_QUERY else None


def _written(row: ResetRow) -> str:
    if row.kind != ResetKind.OFFSETS:
        return f"{row.value:.12g} s" if row.kind == ResetKind.SKIP_OLDER else str(row.value)
    lines = [",".join(str(entry[name]) for name in ("topic", "broker", "queue_id", "offset")) for entry in row.value]
    return "\n".join(["topic,broker,queue_id,offset", *lines])


ROWS = 100

LEFT_OUT = "left out"


def reset_context(request: HttpRequest, reset_id: UUID, problem: str = "") -> dict[str, Any]:
    """`problem`: why an act was refused."""
    frame = frame_of(request, timezone.now())
    row = find_reset(reset_id, frame.now)
    if row is None:
        raise Http404(_("There is no such reset."))
    is_there = find_group(row.cluster, row.group) is not None
    shown = {
        "reset": row,
        "is_working": row.is_planning or row.is_applying,
        "working": ("planning", "applying"),
        "tabs": tabs(frame, row.cluster, row.group) if is_there else [],
        "group_href": frame.group(row.cluster, row.group) if is_there else "",
        "resets_href": frame.to("group_resets", row.cluster, row.group) if is_there else frame.to("resets"),
        "undoes_href": frame.to("reset", row.restores) if row.restores else "",
        "undone_hrefs": [frame.to("reset", other) for other in row.restored_by],
        "problem": problem,
        "span": span_of(reset_id),
        "was_applied": row.started_at is not None,
        # What is the same for every queue is said once, above them.
        "has_ways": row.totals is not None and (len(row.totals.methods) > 1 or row.totals.not_restorable > 0),
        "events": reset_events(reset_id),
        "offers": offers(row, request.user, frame.now),
    }
    return context(frame, **shown, **_queues(frame, row, reset_id))


reset, reset_part = refreshing("resets/reset.html", "resets/reset_part.html", reset_context, ends=True)


def _queues(frame: Frame, row: ResetRow, reset_id: UUID) -> dict[str, Any]:
    outcome = frame.request.GET.get("outcome", "")
    if outcome and outcome not in (*ResetOutcome.values, LEFT_OUT):
        raise UnknownFilter("outcome", outcome, [*ResetOutcome.values, LEFT_OUT])
    which: dict[str, Any] = {"left_out": True} if outcome == LEFT_OUT else {"outcome": outcome or None}
    queues, paging = listed(frame, ROWS, lambda number: reset_queues(reset_id, **which, page=number, page_size=ROWS))
    return {"queues": queues, "choices": _choices(frame, row, outcome), **paging}


def _choices(frame: Frame, row: ResetRow, outcome: str) -> list[tuple[Choice, int]]:
    """Queues by outcome; none where there is nothing to choose from."""
    if row.totals is None:
        return []
    counts: Mapping[str, int] = {**row.totals.outcomes, LEFT_OUT: row.totals.left_out}
    words = {LEFT_OUT: _("left out")}
    named = [
        (Choice(words.get(name, name), frame.here(outcome=name), name == outcome), n) for name, n in counts.items() if n
    ]
    every = (Choice(_("all"), frame.here(outcome=None), not outcome), row.totals.queues)
    return [every, *named] if named else []


# Applies, resumes, restores or cancels a reset, and shows its page again: with the reason, where that was refused.
# Does it, and gives the reset whose page is shown.
Act = Callable[[HttpRequest, Reset], Reset]


def act(do: Act) -> Callable[..., HttpResponse]:
    @require_POST
    @login_required
    @wraps(do)
    def view(request: HttpRequest, reset: UUID) -> HttpResponse:
        check_somewhere(request.user, MAY_RESET)
        row = Reset.objects.select_related("group__cluster").filter(pk=reset).first()
        if row is None:
            raise Http404(_("There is no such reset."))
        check(request.user, MAY_RESET, row.cluster_name)
        try:
            shown = do(request, row)
        except ResetRefused as refusal:
            return render(request, "resets/reset.html", reset_context(request, reset, str(refusal)), status=409)
        return HttpResponseRedirect(reverse("reset", args=[shown.pk]))

    return view


@act
def reset_apply(request: HttpRequest, reset: Reset) -> Reset:
    apply(reset, asker_of(request), typed(request), timezone.now())
    enqueue(reset.pk)
    return reset


@act
def reset_resume(request: HttpRequest, reset: Reset) -> Reset:
    resume(reset, asker_of(request), typed(request), timezone.now())
    enqueue(reset.pk)
    return reset


@act
def reset_restore(request: HttpRequest, reset: Reset) -> Reset:
    """Leads to the plan that would bring back what was before."""
    clip, reason = request.POST.get("clip") == "1", request.POST.get("reason", "").strip()
    plan = restore(reset, asker_of(request), reason, timezone.now(), clip=clip)
    ask_for_plan(plan)
    return plan


@act
def reset_cancel(request: HttpRequest, reset: Reset) -> Reset:
    cancel(reset, asker_of(request), timezone.now())
    return reset


def typed(request: HttpRequest) -> str:
    return request.POST.get("confirm", "").strip()


# A reset and a group's offsets as CSV, as REST gives them.
@require_safe
@never_cache
@login_required
def reset_export(request: HttpRequest, reset: UUID) -> HttpResponseBase:
    row = Reset.objects.filter(pk=reset).first()
    if row is None:
        raise Http404(_("There is no such reset."))
    return csv_response(queues_csv(row.pk), f"reset-{row.cluster_name}-{row.group_name}-{row.pk}")


@require_safe
@never_cache
@login_required
def group_offsets_export(request: HttpRequest, cluster: str, group: str) -> HttpResponseBase:
    found = group_or_404(cluster, group)
    return csv_response(group_offsets_csv(found, timezone.now()), f"offsets-{cluster}-{group}")
