"""Why groups are unknown: one row per cause, not one per group."""

from typing import Any

from django.db.models import Count, F, Min, Q, QuerySet, Value

from .group_overlay import NO_BROKER, UNKNOWN_RANK, Overlay
from .overlay import NOT_JUDGED_YET
from .overview_rows import UnknownCause

NOT_JUDGED_FOR_LONG = "not judged for too long: the pipeline is behind or not running"


def unknown_causes(overlay: Overlay, found: QuerySet[Any]) -> list[UnknownCause]:
    """Those with the most groups first. A broker counts every group that has queues on it, whatever else it shows."""
    causes = _unread(overlay, found) + _unjudged(overlay, found)
    return sorted(causes, key=lambda cause: (-cause.groups, cause.cluster, cause.cause))


def _unread(overlay: Overlay, found: QuerySet[Any]) -> list[UnknownCause]:
    counted = found.filter(unread_by__isnull=False).values("cluster_id", by=F("unread_by")).annotate(groups=Count("pk"))
    causes: list[UnknownCause] = []
    for row in counted:
        cluster = overlay.clusters[row["cluster_id"]]
        if row["by"] == NO_BROKER:
            causes.append(UnknownCause("none of its brokers is known yet", cluster.name, None, None, row["groups"]))
            continue
        broker = overlay.brokers[row["by"]]
        reason = broker.unread_reason(overlay.now, overlay.limits) or ""
        causes.append(UnknownCause(reason, cluster.name, broker.name, broker.last_read_at, row["groups"]))
    return causes


def _unjudged(overlay: Overlay, found: QuerySet[Any]) -> list[UnknownCause]:
    """Groups whose brokers are read and that are UNKNOWN all the same."""
    rest = found.filter(unread_by__isnull=True, shown_rank=UNKNOWN_RANK)
    fresh = Q(judged__judged_at__gte=overlay.limits.judged_since(overlay.now))
    stale = rest.filter(judged__isnull=False).exclude(fresh)
    never = rest.filter(judged__isnull=True)
    by_cause = [
        never.values("cluster_id").annotate(since=Min("first_seen_at"), cause=Value(NOT_JUDGED_YET)),
        stale.values("cluster_id").annotate(since=Min("judged__judged_at"), cause=Value(NOT_JUDGED_FOR_LONG)),
        rest.filter(fresh).values("cluster_id", cause=F("judged__rule")).annotate(since=Min("judged__since")),
    ]
    counted = [row for rows in by_cause for row in rows.annotate(groups=Count("pk"))]
    return [
        UnknownCause(row["cause"], overlay.clusters[row["cluster_id"]].name, None, row["since"], row["groups"])
        for row in counted
    ]
