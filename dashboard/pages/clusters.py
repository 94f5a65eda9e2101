"""Clusters: what was read of each, what it cost, what failed; and the runs that judged it."""

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _, ngettext

from consumers.clock.status import change_words, clock_status, hold_words
from consumers.clusters.history_use import HistoryUse, TableUse, history_use
from consumers.clusters.queries import pipeline_status
from consumers.logs.queries import log_files_by_cluster
from consumers.models import Doubt
from consumers.retries.levels.broker_levels import levels_by_name
from dashboard.pages.common.frame import context, frame_of, refreshing

from .retries import delay_tables


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
        logs=log_files_by_cluster(frame.now),
        history_tables=history_tables(history),
        pipeline=pipeline_status(frame.now),
        clock_changes=[change_words(change) for change in clock.changes],
        clock_hold=hold_words(clock.hold) if clock.hold else None,
        # Every site begins so: nothing is wrong.
        clock_is_new=clock.hold is not None and clock.hold.doubt == Doubt.NEW,
    )


clusters, clusters_part = refreshing("clusters/clusters.html", "clusters/clusters_part.html", clusters_context)


# The tables of the history in words: what each holds, and for how long.

LABELS: dict[str, str | Promise] = {
    "readings": _("scrapes"),
    "membership": _("members"),
    "ownership": _("queue owners"),
    "member_rates": _("rates of members"),
    "stored_offsets": _("offset files"),
    "dead_letters": _("dead-letter queues"),
    "knots": _("produced offsets, for time lags"),
    "windows_60": _("1-minute windows"),
    "windows_600": _("10-minute windows"),
    "windows_3600": _("1-hour windows"),
    "windows_86400": _("1-day windows (UTC)"),
}
HOUR, DAY = 3600, 86400


def history_tables(history: HistoryUse) -> list[tuple[str, str, TableUse]]:
    """What each holds, for how long it is kept, its numbers."""
    return [(str(LABELS[use.table]), kept_words(use.kept_seconds), use) for use in history.tables]


def kept_words(seconds: float) -> str:
    """As somebody set it: never capped."""
    if seconds % DAY and seconds < 4 * DAY:
        hours = seconds / HOUR
        return ngettext("%(n)s hour", "%(n)s hours", round(hours)) % {"n": f"{hours:,g}"}
    days = seconds / DAY
    return ngettext("%(n)s day", "%(n)s days", round(days)) % {"n": f"{days:,g}"}
