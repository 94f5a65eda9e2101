"""Resets that were applied, as marks on a time axis."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from consumers.models import Reset

MARKS_SHOWN = 200
COLUMNS = ("id", "cluster_name", "group_name", "started_at", "finished_at", "status", "kind", "value", "reason")


@dataclass(frozen=True)
class ResetMark:
    """`until` is null while it goes on."""

    id: str
    cluster: str
    group: str
    since: datetime
    until: datetime | None
    status: str
    kind: str
    value: Any
    reason: str
    by: str


def reset_marks(
    *, cluster: str | None = None, group: str | None = None, since: datetime, until: datetime
) -> list[ResetMark]:
    """Those that went on in [since, until), the newest first, at most MARKS_SHOWN. One query."""
    rows = went_on_since(since).filter(started_at__lt=until)
    if cluster:
        rows = rows.filter(cluster_name=cluster)
    if group:
        rows = rows.filter(group_name=group)
    names = (*COLUMNS, "by_name", "applied_by_name")
    return [
        ResetMark(
            id=str(row["id"]),
            cluster=row["cluster_name"],
            group=row["group_name"],
            since=row["started_at"],
            until=row["finished_at"],
            status=row["status"],
            kind=row["kind"],
            value=row["value"],
            reason=row["reason"],
            by=row["applied_by_name"] or row["by_name"],
        )
        for row in rows.order_by("-started_at").values(*names)[:MARKS_SHOWN]
    ]


def went_on_since(since: datetime) -> QuerySet[Reset]:
    """Those that were begun, and had not ended before."""
    return Reset.objects.filter(Q(finished_at=None) | Q(finished_at__gte=since), started_at__isnull=False)
