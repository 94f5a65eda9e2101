"""What needs attention, over all groups or those of one cluster."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from consumers.models import HealthLevel, State, StateChange, TimeLagKind
from consumers.selectors.groups.health import HEALTH_RANKS
from consumers.selectors.groups.listing import filtered, orders, shown_groups
from consumers.selectors.groups.overlay import STATES, Overlay
from consumers.selectors.groups.row import group_row
from consumers.selectors.groups.rows import GroupFilters, KnownPart
from consumers.selectors.queues.lost_offsets import broker_losses
from consumers.selectors.resets.causes import RULES, Jump, causes
from consumers.selectors.retries.checks.condition_rows import Severity
from consumers.selectors.retries.checks.failing import failing_groups
from consumers.selectors.text.measures import count
from consumers.selectors.text.sentences import sentence, state_parts

from .rows import Change, Overview, WorstGroup
from .unknown_causes import unknown_causes

# Sums over groups, null as soon as a part is unknown.

NO_GROUPS = "no group has been read yet"


def sums(groups: int, found: QuerySet[Any], read: QuerySet[Any]) -> dict[str, Any]:
    """`read` are those of the `groups` in `found` of which nothing is unread: of the others only a part of their lag is
    known. A group that never committed has no part in the sums."""
    row = _of_read(read)
    at_least = found.annotate(known=F("shown_lag_messages_at_least")).aggregate(sum=Sum("known"))["sum"]
    no_lag = groups - row["groups"] + row["unknown_lag"]
    no_time_lag, no_dead, no_day = (groups - row[name] for name in ("time_lags", "dead_known", "day_known"))
    values = {
        "lag_messages": None if no_lag else row["lag"],
        "lag_messages_at_least": at_least,
        "time_lag_seconds": row["oldest"],
        "dlq_messages": None if no_dead else row["dead"],
        "dlq_day_messages": None if no_day else row["day"],
    }
    reasons = {
        "lag_messages_at_least": "no group has a known lag",
        "time_lag_seconds": "no group has a known time lag",
        "dlq_messages": f"{no_dead} of {groups} groups have unread dead letters" if groups else NO_GROUPS,
        "dlq_day_messages": _no_day(groups, no_day, row["day_at_least"]),
    }
    # Where one group is known of the whole day, no moment says since when what is known of all counts.
    since = row["day_since"] if row["day_parts"] == row["groups"] else None
    parts = (
        {"dlq_day_messages": KnownPart(row["day_at_least"], since)}
        if no_day and row["day_at_least"] is not None
        else {}
    )
    lag_reason = f"{no_lag} of {groups} groups have no known lag" if no_lag else NO_GROUPS
    kind = TimeLagKind.AT_LEAST if no_time_lag else TimeLagKind.INTERPOLATED
    return values | {
        "time_lag_kind": TimeLagKind.UNKNOWN if row["oldest"] is None else kind,
        "unknown_reason": lag_reason if values["lag_messages"] is None else None,
        "unknown": {name: reason for name, reason in reasons.items() if values[name] is None},
        "known_parts": parts,
    }


def _of_read(read: QuerySet[Any]) -> dict[str, Any]:
    shown = read.annotate(
        time_lag=F("shown_time_lag_seconds"),
        died=F("shown_dlq_day_messages"),
        died_at_least=Coalesce(F("shown_dlq_day_messages"), F("shown_dlq_day_messages_at_least")),
        died_since=F("shown_dlq_day_since"),
    )
    return shown.aggregate(
        groups=Count("pk"),
        lag=Sum("total__lag_messages"),
        unknown_lag=Count("pk", filter=Q(total__unknown_queues__isnull=True) | Q(total__unknown_queues__gt=0)),
        oldest=Max("time_lag"),
        time_lags=Count("time_lag"),
        dead=Sum("total__dlq_messages"),
        dead_known=Count("total__dlq_messages"),
        day=Sum("died"),
        day_known=Count("died"),
        day_at_least=Sum("died_at_least"),
        day_parts=Count("died_since"),
        day_since=Min("died_since"),
    )


def _no_day(groups: int, unknown: int, known: int | None) -> str:
    if not groups:
        return NO_GROUPS
    at_least = f": at least {count(known)} of all" if known is not None else ""
    return f"the dead letters of 24 hours are not known in full of {unknown} of {groups} groups{at_least}"


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


# What moved the offsets whose jumps changed the state of groups.


def change_causes(rows: Iterable[StateChange]) -> dict[int, dict[str, str]]:
    """Beside the numbers of each, by its id. One query, none without a jump."""
    jumps = {row.pk: jump for row in rows if (jump := _jump(row)) is not None}
    found = causes(jumps.values())
    return {pk: found[jump] for pk, jump in jumps.items()}


def _jump(row: StateChange) -> Jump | None:
    """A judgement looks back over one window: the jump lies in it."""
    place = [row.detail.get(name) for name in ("topic", "broker", "queue_id")]
    if row.rule not in RULES or None in place:
        return None
    topic, broker, queue_id = place
    since = row.at - timedelta(seconds=settings.JUDGE["window_seconds"])
    return Jump(row.group_id, topic, broker, queue_id, row.rule, since, row.at)
