"""Why groups are unknown: one row per cause, not one per group."""

from typing import Any

from django.db.models import Case, Count, F, Min, Q, QuerySet, Value, When

from consumers.models import State
from consumers.selectors.clusters.brokers import BrokerAge, ClusterAge
from consumers.selectors.groups.overlay import NO_BROKER, Overlay
from consumers.selectors.queues.overlay import NOT_JUDGED_YET
from consumers.words.rules import rule_words

from .rows import UnknownCause

# Counts groups whose states are stale as well: their rates and time lags are not known.
NOT_JUDGED_FOR_LONG = "evaluation is late: the pipeline is behind or not running"
NOT_POLLED = "no reading is being taken: the poll worker is behind or not running"
# One process does it for all clusters.
OF_THE_SITE = (NOT_JUDGED_FOR_LONG, NOT_POLLED)


def unknown_causes(overlay: Overlay, found: QuerySet[Any], read: QuerySet[Any]) -> list[UnknownCause]:
    """Those with the most groups first; `read` are those of `found` of which nothing is unread.

    A broker counts every group that has queues on it, whatever else the group shows.
    """
    unread = [] if overlay.everything_is_read else _unread(overlay, found)
    causes = _united(unread + _unjudged(overlay, read))
    return sorted(causes, key=lambda cause: (-cause.groups, cause.cluster, cause.cause))


def _unread(overlay: Overlay, found: QuerySet[Any]) -> list[UnknownCause]:
    causes: list[UnknownCause] = []
    for row in found.values("cluster_id", by=F("unread_by")).annotate(groups=Count("pk")):
        cluster = overlay.clusters[row["cluster_id"]]
        if row["by"] == NO_BROKER:
            causes.append(UnknownCause("none of its brokers is known yet", cluster.name, None, None, row["groups"]))
        elif row["by"] is not None:
            causes.append(_unread_cause(overlay, cluster, overlay.brokers[row["by"]], row["groups"]))
    return causes


def _unread_cause(overlay: Overlay, cluster: ClusterAge, broker: BrokerAge, groups: int) -> UnknownCause:
    """No broker is the cause where nobody polls, or where the name server tells of none."""
    at = cluster.newest_reading_at
    if at is None or at < overlay.limits.read_since(overlay.now):
        return UnknownCause(NOT_POLLED, cluster.name, None, at, groups)
    if cluster.newest_error is not None and all(one.error == cluster.newest_error for one in cluster.brokers):
        return UnknownCause(cluster.newest_error, cluster.name, None, broker.last_read_at, groups)
    reason = broker.unread_reason(overlay.now, overlay.limits) or ""
    if len(cluster.brokers) > 1 and all(overlay.is_unread(one) for one in cluster.brokers):
        reason = f"none of its {len(cluster.brokers)} brokers is read; {reason}"
    return UnknownCause(reason, cluster.name, broker.name, broker.last_read_at, groups)


def _united(causes: list[UnknownCause]) -> list[UnknownCause]:
    """What stops all clusters at once is one row."""
    rows = [cause for cause in causes if cause.cause not in OF_THE_SITE]
    for name in OF_THE_SITE:
        same = [cause for cause in causes if cause.cause == name]
        if same:
            times = [cause.since for cause in same if cause.since is not None]
            clusters = ", ".join(sorted(cause.cluster for cause in same))
            groups = sum(cause.groups for cause in same)
            rows.append(UnknownCause(name, clusters, None, min(times, default=None), groups))
    return rows


def _unjudged(overlay: Overlay, read: QuerySet[Any]) -> list[UnknownCause]:
    """Groups whose brokers are read, and that are UNKNOWN all the same or whose evaluation is late."""
    since = overlay.limits.judged_since(overlay.now)
    is_never, is_stale = Q(judged__isnull=True), Q(judged__judged_at__lt=since)
    cause = Case(
        When(is_never, then=Value(NOT_JUDGED_YET)),
        When(is_stale, then=Value(NOT_JUDGED_FOR_LONG)),
        default=F("judged__rule"),
    )
    began = Case(
        When(is_never, then=F("first_seen_at")),
        When(is_stale, then=F("judged__judged_at")),
        default=F("judged__since"),
    )
    unjudged = read.filter(is_never | is_stale | Q(judged__state=State.UNKNOWN))
    counted = unjudged.values("cluster_id", cause=cause).annotate(since=Min(began), groups=Count("pk"))
    return [
        UnknownCause(
            rule_words(row["cause"]), overlay.clusters[row["cluster_id"]].name, None, row["since"], row["groups"]
        )
        for row in counted
    ]
