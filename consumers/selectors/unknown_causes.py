"""Why groups are unknown: one row per cause, not one per group."""

from typing import Any

from django.db.models import Count, F, Min, QuerySet, Value

from consumers.models import State

from .group_overlay import NO_BROKER, Overlay
from .overlay import NOT_JUDGED_YET
from .overview_rows import UnknownCause

NOT_JUDGED_FOR_LONG = "not judged for too long: the pipeline is behind or not running"


def unknown_causes(overlay: Overlay, found: QuerySet[Any], read: QuerySet[Any]) -> list[UnknownCause]:
    """Those with the most groups first; `read` are those of `found` of which nothing is unread.

    A broker counts every group that has queues on it, whatever else the group shows.
    """
    unread = [] if overlay.everything_is_read else _unread(overlay, found)
    return sorted(unread + _unjudged(overlay, read), key=lambda cause: (-cause.groups, cause.cluster, cause.cause))


def _unread(overlay: Overlay, found: QuerySet[Any]) -> list[UnknownCause]:
    causes: list[UnknownCause] = []
    for row in found.values("cluster_id", by=F("unread_by")).annotate(groups=Count("pk")):
        cluster = overlay.clusters[row["cluster_id"]]
        if row["by"] == NO_BROKER:
            causes.append(UnknownCause("none of its brokers is known yet", cluster.name, None, None, row["groups"]))
        elif row["by"] is not None:
            broker = overlay.brokers[row["by"]]
            reason = broker.unread_reason(overlay.now, overlay.limits) or ""
            causes.append(UnknownCause(reason, cluster.name, broker.name, broker.last_read_at, row["groups"]))
    return causes


def _unjudged(overlay: Overlay, read: QuerySet[Any]) -> list[UnknownCause]:
    """Groups whose brokers are read and that are UNKNOWN all the same."""
    since = overlay.limits.judged_since(overlay.now)
    never = read.filter(judged__isnull=True)
    stale = read.filter(judged__judged_at__lt=since)
    unknown = read.filter(judged__judged_at__gte=since, judged__state=State.UNKNOWN)
    by_cause = [
        never.values("cluster_id").annotate(since=Min("first_seen_at"), cause=Value(NOT_JUDGED_YET)),
        stale.values("cluster_id").annotate(since=Min("judged__judged_at"), cause=Value(NOT_JUDGED_FOR_LONG)),
        unknown.values("cluster_id", cause=F("judged__rule")).annotate(since=Min("judged__since")),
    ]
    counted = [row for rows in by_cause for row in rows.annotate(groups=Count("pk"))]
    return [
        UnknownCause(row["cause"], overlay.clusters[row["cluster_id"]].name, None, row["since"], row["groups"])
        for row in counted
    ]
