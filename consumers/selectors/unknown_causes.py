"""Why groups are unknown: one row per cause, not one per group."""

from typing import Any

from django.db.models import Case, Count, F, Min, Q, QuerySet, Value, When

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
        UnknownCause(row["cause"], overlay.clusters[row["cluster_id"]].name, None, row["since"], row["groups"])
        for row in counted
    ]
