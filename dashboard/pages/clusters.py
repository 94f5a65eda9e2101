"""The page of clusters with their brokers and history, and the test of a connection: the page asks, and a part of it
shows what each call was answered with.
"""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from consumers.clock.status import change_words, clock_status, hold_words
from consumers.clusters.connection import CHECK_PATIENCE, MAY_CHECK, ConnectionCheck, ask_check, check_answer
from consumers.clusters.history_use import HistoryUse, TableUse, history_use
from consumers.clusters.pipeline_runs import pipeline_status
from consumers.clusters.queries import cluster_list
from consumers.jobs.asking import RedisDown
from consumers.jobs.permissions import check, why_not
from consumers.logs.queries import log_files_by_cluster
from consumers.models import Cluster, Doubt
from consumers.retries.broker_levels import levels_by_name
from dashboard.pages.common.awaited import AwaitedAnswer, awaited_answer
from dashboard.pages.common.frame import Frame, context, frame_of, page, part, refreshing

from .retries import delay_tables


def clusters_context(request: HttpRequest) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    shown = cluster_list(frame.now, name=frame.cluster)
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
    "readings": gettext_lazy("scrapes"),
    "membership": gettext_lazy("members"),
    "ownership": gettext_lazy("queue owners"),
    "member_rates": gettext_lazy("rates of members"),
    "stored_offsets": gettext_lazy("offset files"),
    "dead_letters": gettext_lazy("dead-letter queues"),
    "knots": gettext_lazy("produced offsets, for time lags"),
    "windows_60": gettext_lazy("1-minute windows"),
    "windows_600": gettext_lazy("10-minute windows"),
    "windows_3600": gettext_lazy("1-hour windows"),
    "windows_86400": gettext_lazy("1-day windows (UTC)"),
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


# Tests the connection to a cluster: the page asks, and a part of it shows what each call was answered with.
@page
def connection(request: HttpRequest, cluster: str) -> HttpResponse:
    return render(request, "clusters/connection.html", _shown(request, _cluster(cluster)))


@part
def connection_part(request: HttpRequest, cluster: str) -> HttpResponse:
    return render(request, "clusters/connection_part.html", _shown(request, _cluster(cluster)))


@require_POST
@never_cache
@login_required
def connection_check(request: HttpRequest, cluster: str) -> HttpResponse:
    """Asks for a test; the page shows its result."""
    check(request.user, MAY_CHECK, cluster)
    found = _cluster(cluster)
    try:
        token = ask_check(request.user, found.name, timezone.now())
    except RedisDown as down:
        shown = _shown(request, found) | {"view": AwaitedAnswer(sentence=str(down))}
        return render(request, "clusters/connection.html", shown, status=503)
    return HttpResponseRedirect(f"{reverse('connection', args=(cluster,))}?{urlencode({'look': token})}")


def _cluster(name: str) -> Cluster:
    found = Cluster.objects.filter(name=name).first()
    if found is None:
        raise Http404(_("No cluster is registered under the name “%s”.") % name)
    return found


def _shown(request: HttpRequest, cluster: Cluster) -> dict[str, Any]:
    frame = frame_of(request, timezone.now())
    missing_role = why_not(request.user, MAY_CHECK, cluster.name)
    return context(
        frame,
        cluster=cluster,
        missing_role=missing_role,
        view=AwaitedAnswer() if missing_role else _view(frame, cluster),
        show=frame.here(),
    )


def _view(frame: Frame, cluster: Cluster) -> AwaitedAnswer[ConnectionCheck]:
    token, user_id = frame.request.GET.get("look"), frame.request.user.pk
    if not token or user_id is None:
        return AwaitedAnswer()
    return awaited_answer(
        token,
        lambda: check_answer(user_id, token, cluster.name),
        now=frame.now,
        patience=CHECK_PATIENCE,
        expired=_("This test has expired: results are retained for 5 minutes."),
    )
