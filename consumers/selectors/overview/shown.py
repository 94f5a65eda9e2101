"""What needs attention, over all groups or those of one cluster."""

from collections import Counter
from datetime import datetime
from typing import Any

from django.db.models import Count, F, QuerySet

from consumers.models import HealthLevel, State, StateChange
from consumers.selectors.groups.health import HEALTH_RANKS
from consumers.selectors.groups.listing import filtered, orders, shown_groups
from consumers.selectors.groups.overlay import STATES, Overlay
from consumers.selectors.groups.row import group_row
from consumers.selectors.groups.rows import GroupFilters
from consumers.selectors.lost_offsets import broker_losses
from consumers.selectors.retries.condition_rows import Severity
from consumers.selectors.retries.failing import failing_groups
from consumers.selectors.sentences import sentence, state_parts

from .change_causes import change_causes
from .rows import Change, Overview, WorstGroup
from .sums import sums
from .unknown_causes import unknown_causes

CHANGES_SHOWN = 200


def overview(
    *, cluster: str | None = None, since: datetime, until: datetime, now: datetime, worst: int = 10
) -> Overview:
    """User groups only. `worst` is how many of those that need attention are shown; changes are of [since, until)."""
    overlay = Overlay.at(now)
    filters = GroupFilters(cluster=cluster)
    found = filtered(overlay, filters)
    read = filtered(overlay, filters, groups=overlay.read_groups)
    counted, healthy = _counts(found)
    known = sums(sum(counted.values()), found, read)
    chosen = _worst(found, worst)
    oldest = read.order_by(*orders("-time_lag_seconds")).values_list("pk", flat=True).first()
    shown = {one.group.pk: one for one in shown_groups(overlay, [*chosen, *([oldest] if oldest else [])])}
    return Overview(
        counts={state: counted.get(rank, 0) for rank, state in enumerate(STATES)},
        health={level: healthy.get(rank, 0) for level, rank in HEALTH_RANKS.items()},
        groups=sum(counted.values()),
        oldest_group=group_row(shown[oldest]) if oldest and known["time_lag_seconds"] is not None else None,
        worst=[WorstGroup(group_row(shown[pk]), shown[pk].verdict.parts) for pk in chosen],
        causes=unknown_causes(overlay, found, read),
        losses=broker_losses(overlay.slaves, cluster),
        failing=[row for row in failing_groups(cluster, now) if row.severity is Severity.CRITICAL or row.group is None],
        changes=changes(cluster=cluster, since=since, until=until),
        **known,
    )


def _counts(found: QuerySet[Any]) -> tuple[dict[int, int], dict[int, int]]:
    """Groups by the rank of their state, and by that of their health. One query."""
    states: Counter[int] = Counter()
    levels: Counter[int] = Counter()
    ranks = found.order_by().values(rank=F("shown_rank"), health_rank=F("shown_health_rank"))
    for row in ranks.annotate(groups=Count("pk")):
        states[row["rank"]] += row["groups"]
        levels[row["health_rank"]] += row["groups"]
    return states, levels


def _worst(found: QuerySet[Any], count: int) -> list[int]:
    troubled = found.filter(shown_health_rank__lt=HEALTH_RANKS[HealthLevel.UNKNOWN])
    return list(troubled.order_by(*orders(None)).values_list("pk", flat=True)[:count])


def changes(*, cluster: str | None = None, group: str | None = None, since: datetime, until: datetime) -> list[Change]:
    """Changes of state of user groups, newest first, in [since, until)."""
    rows = StateChange.objects.filter(at__gte=since, at__lt=until, group__kind="user").select_related("group__cluster")
    if cluster:
        rows = rows.filter(group__cluster__name=cluster)
    if group:
        rows = rows.filter(group__name=group)
    shown = list(rows[:CHANGES_SHOWN])
    why = change_causes(shown)
    return [
        Change(
            at=row.at,
            cluster=row.group.cluster.name,
            group=row.group.name,
            before=State(row.before) if row.before else None,
            after=State(row.after),
            sentence=sentence(state_parts(State(row.after), row.rule, row.detail | why.get(row.pk, {}))),
        )
        for row in shown
    ]
