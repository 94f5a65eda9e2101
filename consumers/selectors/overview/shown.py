"""What needs attention, over all groups or those of one cluster."""

from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, Q, QuerySet, Sum

from consumers.models import State, StateChange, TimeLagKind
from consumers.selectors.groups.listing import filtered, orders, shown_groups
from consumers.selectors.groups.overlay import STATES, UNKNOWN_RANK, WORSE_THAN_UNKNOWN, Overlay
from consumers.selectors.groups.row import group_row
from consumers.selectors.groups.rows import GroupFilters
from consumers.selectors.retries.condition_rows import Severity
from consumers.selectors.retries.failing import failing_groups
from consumers.selectors.sentences import sentence, state_parts

from .rows import Change, Overview, WorstGroup
from .unknown_causes import unknown_causes

CHANGES_SHOWN = 200
NO_GROUPS = "no group has been read yet"


def overview(
    *, cluster: str | None = None, since: datetime, until: datetime, now: datetime, worst: int = 10
) -> Overview:
    """User groups only. `worst` is how many of those that need attention are shown; changes are of [since, until)."""
    overlay = Overlay.at(now)
    filters = GroupFilters(cluster=cluster)
    found = filtered(overlay, filters)
    read = filtered(overlay, filters, groups=overlay.read_groups)
    counted = {row["rank"]: row["groups"] for row in found.values(rank=F("shown_rank")).annotate(groups=Count("pk"))}
    sums = _sums(sum(counted.values()), found, read)
    chosen = _worst(found, worst)
    oldest = read.order_by(*orders("-time_lag_seconds")).values_list("pk", flat=True).first()
    shown = {one.group.pk: one for one in shown_groups(overlay, [*chosen, *([oldest] if oldest else [])])}
    return Overview(
        counts={state: counted.get(rank, 0) for rank, state in enumerate(STATES)},
        groups=sum(counted.values()),
        oldest_group=group_row(shown[oldest]) if oldest and sums["time_lag_seconds"] is not None else None,
        worst=[WorstGroup(group_row(shown[pk]), shown[pk].verdict.parts) for pk in chosen],
        causes=unknown_causes(overlay, found, read),
        failing=[row for row in failing_groups(cluster, now) if row.severity is Severity.CRITICAL or row.group is None],
        changes=changes(cluster=cluster, since=since, until=until),
        **sums,
    )


def _worst(found: QuerySet[Any], count: int) -> list[int]:
    """A group shown as worse than UNKNOWN was judged so: the others need no looking up."""
    judged = found.filter(judged__state__in=WORSE_THAN_UNKNOWN, shown_rank__lt=UNKNOWN_RANK)
    return list(judged.order_by(*orders(None)).values_list("pk", flat=True)[:count])


def _sums(groups: int, found: QuerySet[Any], read: QuerySet[Any]) -> dict[str, Any]:
    """Sums over groups, null as soon as a part is unknown. A group that never committed has no part in them.

    Of groups that are unread only the known part of their lag is known.
    """
    row = read.annotate(time_lag=F("shown_time_lag_seconds")).aggregate(
        groups=Count("pk"),
        lag=Sum("total__lag_messages"),
        unknown_lag=Count("pk", filter=Q(total__unknown_queues__isnull=True) | Q(total__unknown_queues__gt=0)),
        oldest=Max("time_lag"),
        time_lags=Count("time_lag"),
        dead=Sum("total__dlq_messages"),
        dead_known=Count("total__dlq_messages"),
    )
    at_least = found.annotate(known=F("shown_lag_messages_at_least")).aggregate(sum=Sum("known"))["sum"]
    unread = groups - row["groups"]
    row |= {
        "groups": groups,
        "no_lag": unread + row["unknown_lag"],
        "no_time_lag": groups - row["time_lags"],
        "no_dead": groups - row["dead_known"],
        "known": at_least,
    }
    no_lag = f"{row['no_lag']} of {row['groups']} groups have no known lag" if row["no_lag"] else None
    values = {
        "lag_messages": None if no_lag else row["lag"],
        "lag_messages_at_least": row["known"],
        "time_lag_seconds": row["oldest"],
        "dlq_messages": None if row["no_dead"] else row["dead"],
    }
    kind = TimeLagKind.AT_LEAST if row["no_time_lag"] else TimeLagKind.INTERPOLATED
    reasons = {
        "lag_messages_at_least": "no group has a known lag",
        "time_lag_seconds": "no group has a known time lag",
        "dlq_messages": f"{row['no_dead']} of {row['groups']} groups have unread dead letters",
    }
    return values | {
        "time_lag_kind": TimeLagKind.UNKNOWN if row["oldest"] is None else kind,
        "unknown_reason": (no_lag or NO_GROUPS) if values["lag_messages"] is None else None,
        "unknown": {name: reason for name, reason in reasons.items() if values[name] is None},
    }


def changes(*, cluster: str | None = None, group: str | None = None, since: datetime, until: datetime) -> list[Change]:
    """Changes of state of user groups, newest first, in [since, until)."""
    rows = StateChange.objects.filter(at__gte=since, at__lt=until, group__kind="user").select_related("group__cluster")
    if cluster:
        rows = rows.filter(group__cluster__name=cluster)
    if group:
        rows = rows.filter(group__name=group)
    return [
        Change(
            at=row.at,
            cluster=row.group.cluster.name,
            group=row.group.name,
            before=State(row.before) if row.before else None,
            after=State(row.after),
            sentence=sentence(state_parts(State(row.after), row.rule, row.detail)),
        )
        for row in rows[:CHANGES_SHOWN]
    ]
