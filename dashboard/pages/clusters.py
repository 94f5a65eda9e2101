"""Clusters: what was read of each, what it cost, what failed; and the runs that judged it."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from consumers.models import Doubt
from consumers.selectors.clocks import change_words, clock_status, hold_words
from consumers.selectors.history_use import history_use
from consumers.selectors.pipeline_status import pipeline_status
from consumers.selectors.retries.delay_levels import levels_by_name

from .access import page, part
from .delay_lines import delay_tables
from .frame import context, frame_of
from .history_tables import history_tables


@page
def clusters(request: HttpRequest) -> HttpResponse:
    return render(request, "pages/clusters.html", clusters_context(request))


@part
def clusters_part(request: HttpRequest) -> HttpResponse:
    return render(request, "fragments/clusters.html", {**clusters_context(request), "is_part": True})


def clusters_context(request: HttpRequest) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    shown = [row for row in frame.clusters if frame.cluster in (None, row.name)]
    delays = delay_tables(levels_by_name(frame.now))
    clock = clock_status(frame.now)
    history = history_use(frame.cluster)
    return context(
        frame,
        clusters=shown,
        delays=delays,
        history=history,
        history_tables=history_tables(history),
        pipeline=pipeline_status(frame.now),
        clock_changes=[change_words(change) for change in clock.changes],
        clock_hold=hold_words(clock.hold) if clock.hold else None,
        # Every site begins so: nothing is wrong.
        clock_is_new=clock.hold is not None and clock.hold.doubt == Doubt.NEW,
    )
