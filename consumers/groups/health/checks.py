"""Health findings of groups: some for all groups at once, others by checks of single groups."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count, Func, IntegerField, Min, Q, QuerySet, Sum

from consumers.groups.health.rows import HealthCode, Reason
from consumers.models import ConsumerGroup, GroupKind, GroupState, GroupWindow, HealthLevel, PipelineRun, Rebalance
from consumers.ownership.finding import Level, OwnershipCheck
from consumers.ownership.findings import ownership_check
from consumers.pipeline.slices import MINUTE, floor
from consumers.polling.flags import ghosts
from consumers.polling.heads.look_up import standing_heads
from consumers.queries.limits import limits
from consumers.rebalances.flapping import DAY, flapping_by_group
from consumers.rebalances.unsettled import enough, unsettled
from consumers.retries.checks.condition_rows import Condition, ConditionName, Severity
from consumers.retries.checks.conditions import conditions
from consumers.retries.checks.facts import facts_of
from consumers.retries.levels.broker_levels import cluster_levels

# Findings of checks of single groups: ownership, and retry health checks.
OF_LEVEL = {Level.PROBLEM: HealthLevel.CRITICAL, Level.WARNING: HealthLevel.WARNING}

OF_SEVERITY = {Severity.CRITICAL: HealthLevel.CRITICAL, Severity.WARNING: HealthLevel.WARNING}

# Settings that somebody chose on purpose: worth knowing, but no fault.
ON_PURPOSE = frozenset({ConditionName.ENABLED, ConditionName.RETRIED})

# Only members answer these checks: without a member nobody can be asked.
OF_MEMBERS = frozenset({ConditionName.TIMEOUT, ConditionName.RETRIED})


def checked(groups: Sequence[ConsumerGroup], now: datetime) -> dict[int, tuple[Reason, ...]]:
    """By the group's id; the groups' clusters must be loaded. Some ten queries for each group.

    System groups and inactive groups are not checked.
    """
    used = _in_use(groups, now)
    chosen = [group for group in groups if group.pk in used]
    late = _late(chosen, now)
    found: dict[int, tuple[Reason, ...]] = {group.pk: () for group in groups}
    for group, facts in zip(chosen, facts_of(chosen, now), strict=True):
        of_retries = retry_reasons(conditions(facts), online=group.online)
        of_owners = ownership_reasons(ownership_check(group, now))
        found[group.pk] = (*of_owners, *of_retries, *late.get(group.cluster_id, ()))
    return found


def ownership_reasons(check: OwnershipCheck) -> tuple[Reason, ...]:
    """One for each kind of finding that is more than a note."""
    kinds: dict[tuple[str, HealthLevel], int] = {}
    for finding in check.findings:
        if finding.level in OF_LEVEL:
            key = (finding.kind.value, OF_LEVEL[finding.level])
            queues = {*finding.unowned, *finding.doubly_owned, *finding.queues}
            kinds[key] = kinds.get(key, 0) + len(queues)
    found = [
        Reason(HealthCode.OWNERSHIP, level, {"kind": kind} | ({"queues": queues} if queues else {}))
        for (kind, level), queues in kinds.items()
    ]
    if not check.is_read:
        found.append(Reason(HealthCode.OWNERSHIP_UNKNOWN, HealthLevel.UNKNOWN))
    return tuple(found)


def retry_reasons(found: Iterable[Condition], *, online: bool | None) -> tuple[Reason, ...]:
    reasons, doubtful = [], []
    for condition in found:
        if condition.severity not in OF_SEVERITY:
            continue
        if condition.is_failing:
            level = HealthLevel.OK if condition.name in ON_PURPOSE else OF_SEVERITY[condition.severity]
            said: dict[str, Any] = {"check": condition.name.value}
            if condition.brokers:
                said["brokers"] = list(condition.brokers)
            reasons.append(Reason(HealthCode.RETRY_CHECK, level, said))
        elif condition.ok is None and not (online is False and condition.name in OF_MEMBERS):
            doubtful.append(condition.name.value)
    if doubtful:
        reasons.append(Reason(HealthCode.RETRY_CHECKS_UNKNOWN, HealthLevel.UNKNOWN, {"checks": doubtful}))
    return tuple(reasons)


def _late(groups: Iterable[ConsumerGroup], now: datetime) -> dict[int, tuple[Reason, ...]]:
    """By the cluster's id. Late delay levels concern every group with queues there: a warning, not as many critical
    groups.
    """
    clusters = {group.cluster_id for group in groups}
    found: dict[int, tuple[Reason, ...]] = {}
    for pk, brokers in (cluster_levels(clusters, now) if clusters else {}).items():
        late = sorted(broker.broker for broker in brokers if broker.findings)
        if late:
            found[pk] = (Reason(HealthCode.LATE_RETRIES, HealthLevel.WARNING, {"brokers": late}),)
    return found


def _in_use(groups: Sequence[ConsumerGroup], now: datetime) -> set[int]:
    of_users = [group.pk for group in groups if group.kind == GroupKind.USER]
    rows = ConsumerGroup.objects.filter(pk__in=of_users).exclude(ghosts(now, limits().kinds))
    return set(rows.values_list("pk", flat=True))


# Findings of all groups at once, or of some: DLQ inflow, blocked queues, and members that do not settle.
# The newest minutes that were evaluated: one missed minute does not make the finding unknown.
NEWEST = 5

# Written into the statement: SQLite uses a partial index only where it sees the value.
ZERO = Func(template="0", output_field=IntegerField())

LATE = Reason(HealthCode.PIPELINE_LATE, HealthLevel.UNKNOWN)


@dataclass
class _FoundReasons:
    reasons: dict[int, list[Reason]] = field(default_factory=dict)

    def add(self, group: int, reason: Reason) -> None:
        self.reasons.setdefault(group, []).append(reason)


def noticed(now: datetime, only: Collection[int] | None = None) -> dict[int, tuple[Reason, ...]]:
    """By the id of every group, or of the groups in `only`. Some ten queries, however many groups there are.

    System groups and inactive groups get findings of dead-letter messages only.
    """
    rows = ConsumerGroup.objects.exclude(Q(kind=GroupKind.SYSTEM) | ghosts(now, limits().kinds)).order_by()
    used = set(_of(rows, only, "pk").values_list("pk", flat=True))
    every = set(only) if only is not None else set(ConsumerGroup.objects.order_by().values_list("pk", flat=True))
    found = _FoundReasons({group: [] for group in every})
    _blocked(found, now, only, used)
    until = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=now).order_by("-until")
    judged_until = until.values_list("until", flat=True).first()
    if judged_until is None or judged_until < limits().judged_since(now):
        for group in used:
            found.add(group, LATE)
    else:
        _dead_letters(found, floor(judged_until, MINUTE), only, used)
        _rebalances(found, judged_until, now, only, used)
    return {group: tuple(reasons) for group, reasons in found.reasons.items() if group in every}


def _of(rows: QuerySet[Any], only: Collection[int] | None, name: str = "group") -> QuerySet[Any]:
    return rows if only is None else rows.filter(**{f"{name}__in": only})


def _blocked(found: _FoundReasons, now: datetime, only: Collection[int] | None, used: set[int]) -> None:
    heads = _of(standing_heads(settings.CONSUMERSCOPE_BLOCKED_AFTER_SECONDS, now), only).order_by()
    counted = heads.values_list("group_id").annotate(Count("queue", distinct=True), Min("head_since"))
    for group, queues, since in counted:
        if group in used:
            said = {"queues": queues, "since": since.isoformat()}
            found.add(group, Reason(HealthCode.BLOCKED_QUEUES, HealthLevel.WARNING, said))


def _dead_letters(found: _FoundReasons, end: datetime, only: Collection[int] | None, used: set[int]) -> None:
    """The newest minutes give the rate, the day gives the count; the time before the first reading is unknown."""
    minutes = _of(GroupWindow.objects.filter(step_seconds=60, start__lt=end), only).order_by()
    newest = Q(start__gte=end - NEWEST * MINUTE)
    told = set(minutes.filter(newest, into_dlq__isnull=False).values_list("group_id", flat=True).distinct())
    died = minutes.filter(into_dlq__gt=ZERO, start__gte=end - DAY).values("group_id")
    rows = died.annotate(day=Sum("into_dlq"), late=Sum("into_dlq", filter=newest))
    sums = {row["group_id"]: (row["day"], row["late"]) for row in rows}
    whole = dict(GroupState.objects.filter(pk__in=sums).values_list("pk", "dlq_day_messages"))
    for group, (day, late) in sums.items():
        said: dict[str, Any] = {"day_messages": day}
        if whole.get(group) is not None:
            said = {"day_messages": max(day, whole[group] or 0), "is_whole_day": True}
        if late:
            said["per_minute"] = round(late / NEWEST, 1)
        found.add(group, Reason(HealthCode.DLQ_INFLOW, HealthLevel.WARNING, said))
    for group in used - told:
        found.add(group, Reason(HealthCode.DLQ_UNKNOWN, HealthLevel.UNKNOWN))


def _rebalances(
    found: _FoundReasons, judged_until: datetime, now: datetime, only: Collection[int] | None, used: set[int]
) -> None:
    changing = unsettled(_of(Rebalance.objects.all(), only), judged_until)
    seconds = {pk: one.seconds for pk, one in changing.items() if one.seconds is not None and not one.is_rollout}
    loud = flapping_by_group(_of(Rebalance.objects.all(), only), seconds, now)
    for group, row in loud.items():
        if group in used:
            numbers = {
                "episodes_hour": row.episodes_hour,
                "rebalances_hour": row.rebalances_hour,
                "episodes_day": row.episodes_day,
                "rebalances_day": row.rebalances_day,
            }
            said = {"level": row.level.value} | {name: number for name, number in numbers.items() if number}
            found.add(group, Reason(HealthCode.REBALANCES, HealthLevel.WARNING, said))
    for group, one in changing.items():
        # A group that began to change a moment ago cannot have been changing for too long.
        is_open = one.seconds is None and not one.is_rollout and judged_until - one.since >= enough()
        if is_open and group in used and group not in loud:
            found.add(group, Reason(HealthCode.REBALANCES_UNKNOWN, HealthLevel.UNKNOWN))
