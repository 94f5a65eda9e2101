"""Finds resets. Each call is a fixed number of queries, however many queues a reset has."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q

from consumers.models import Reset, ResetKind, ResetStatus

from .rows import ResetRow
from .seen import seen_group
from .totals import totals_of
from .totals_rows import ResetTotals

NO_PLAN = {ResetStatus.PLANNING: "the plan is being made"}
NOT_APPLIED = "it was not applied"
NOTHING_MOVED = "nothing was found that had moved since the plan"
LOOKED_AT = "what has moved since the plan is being looked at, or nothing had"
ALL = "all queues of these topics and brokers"
# What these targets name is chosen, unless more is said.
CHOSEN_BY = {
    ResetKind.OFFSETS: "those that the value lists",
    ResetKind.MOMENT: "those that the group had then",
    ResetKind.RESTORE: "those that the other reset may have changed",
}


def find_reset(reset_id: UUID, now: datetime) -> ResetRow | None:
    return next(iter(_rows(list(Reset.objects.filter(pk=reset_id)), now)), None)


def reset_list(
    now: datetime,
    *,
    cluster: str | None = None,
    group: str | None = None,
    status: str | None = None,
    kind: str | None = None,
    by: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    page: int,
    page_size: int,
) -> tuple[list[ResetRow], int]:
    """The newest first, and how many there are. `by`: whoever planned or applied it; created in [since, until)."""
    found = Reset.objects.order_by("-created_at", "pk")
    if cluster is not None:
        found = found.filter(cluster_name=cluster)
    if group is not None:
        found = found.filter(group_name=group)
    if status is not None:
        found = found.filter(_is(status, now))
    if kind is not None:
        found = found.filter(kind=kind)
    if since is not None:
        found = found.filter(created_at__gte=since)
    if until is not None:
        found = found.filter(created_at__lt=until)
    if by is not None:
        found = found.filter(Q(by_name=by) | Q(applied_by_name=by))
    start = (page - 1) * page_size
    return _rows(list(found[start : start + page_size]), now), found.count()


def _is(status: str, now: datetime) -> Q:
    """Expired is what is past its time, noted or not."""
    void = Q(status=ResetStatus.PLANNED, expires_at__lte=now)
    if status == ResetStatus.EXPIRED:
        return Q(status=status) | void
    return Q(status=status) & ~void


def _rows(resets: Sequence[Reset], now: datetime) -> list[ResetRow]:
    ids = [reset.pk for reset in resets]
    totals = totals_of(ids)
    undone: dict[UUID | None, list[str]] = defaultdict(list)
    undoing = Reset.objects.filter(restores__in=ids).order_by("created_at")
    for reset_id, by in undoing.values_list("restores", "pk"):
        undone[reset_id].append(str(by))
    return [_row(reset, totals.get(reset.pk), undone[reset.pk], now) for reset in resets]


def _row(reset: Reset, totals: ResetTotals | None, restored_by: list[str], now: datetime) -> ResetRow:
    is_void = reset.status == ResetStatus.PLANNED and reset.expires_at is not None and reset.expires_at <= now
    status = ResetStatus.EXPIRED if is_void else ResetStatus(reset.status)
    finished_at = reset.expires_at if is_void else reset.finished_at
    values: dict[str, Any] = {
        "value": reset.value,
        "topics": reset.topics,
        "brokers": reset.brokers,
        "chosen_queues": reset.queues,
        "applied_by": reset.applied_by_name,
        "planned_at": reset.planned_at,
        "expires_at": reset.expires_at,
        "started_at": reset.started_at,
        "working_at": reset.working_at,
        "finished_at": finished_at,
        "seconds": _seconds(reset.started_at, finished_at or now),
        "restores": None if reset.restores_id is None else str(reset.restores_id),
        "moved": reset.moved,
        "error": reset.error,
        "seen": seen_group(reset.seen),
        "totals": totals,
    }
    why = _why(reset, status)
    return ResetRow(
        id=str(reset.pk),
        cluster=reset.cluster_name,
        group=reset.group_name,
        status=str(status),
        kind=reset.kind,
        clip=reset.clip,
        by=reset.by_name,
        reason=reset.reason,
        created_at=reset.created_at,
        restored_by=restored_by,
        warnings=reset.warnings,
        unknown={name: why[name] for name, value in values.items() if value is None},
        **values,
    )


def _seconds(start: datetime | None, end: datetime) -> float | None:
    return None if start is None else max(0.0, (end - start).total_seconds())


def _why(reset: Reset, status: ResetStatus) -> dict[str, str]:
    no_plan = NO_PLAN.get(status, "there was no plan")
    by_target = CHOSEN_BY.get(ResetKind(reset.kind))
    no_check = LOOKED_AT if status == ResetStatus.APPLYING else NOTHING_MOVED
    return {
        "value": "this kind of target needs none",
        "topics": by_target or "all topics of the group, without its retry topic",
        "brokers": by_target or "all brokers",
        "chosen_queues": by_target or ALL,
        **dict.fromkeys(("planned_at", "expires_at", "seen", "totals"), no_plan),
        **dict.fromkeys(("applied_by", "started_at", "seconds"), NOT_APPLIED),
        "working_at": "no worker has taken it up",
        "finished_at": "it has not ended",
        "restores": "it undoes no other reset",
        "moved": NOT_APPLIED if reset.started_at is None else no_check,
        "error": "there is nothing to say beyond its status",
    }
