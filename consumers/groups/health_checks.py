"""Health findings of groups: some for all groups at once, others by checks of single groups."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Case, Count, F, Func, IntegerField, Min, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Least

from consumers.findings.queries import GroupChecks, check_groups
from consumers.models import (
    ConsumerGroup,
    GroupHealth,
    GroupKind,
    GroupState,
    GroupWindow,
    HealthLevel,
    Rebalance,
)
from consumers.ownership.findings import OwnershipCheck
from consumers.pipeline.slices import MINUTE, floor
from consumers.polling.flags import ghosts
from consumers.polling.heads import unfinished_heads
from consumers.queries.limits import evaluated_until, limits
from consumers.rebalances.flapping import DAY, enough, flapping_by_group, unsettled
from consumers.retries.broker_levels import cluster_levels
from consumers.retries.checks.condition_rows import FINDINGS
from consumers.vocabulary.findings import FindingSeverity

from .health import LEVELS, OF_STATE, Findings, HealthCode, Reason, health_limits
from .late_queues import RANKS
from .overlay import Overlay
from .shown import ShownGroup

# Findings of checks of single groups: ownership, and retry health checks.
OF_SEVERITY = {FindingSeverity.CRITICAL: HealthLevel.CRITICAL, FindingSeverity.WARNING: HealthLevel.WARNING}


def checked(groups: Sequence[ConsumerGroup], now: datetime) -> dict[int, tuple[Reason, ...]]:
    """By the group's id; the groups' clusters must be loaded. Some ten queries for each group.

    System groups and inactive groups are not checked.
    """
    return reasons_of(groups, check_groups(groups, now), now)


def reasons_of(
    groups: Sequence[ConsumerGroup], checks: Mapping[int, GroupChecks], now: datetime
) -> dict[int, tuple[Reason, ...]]:
    """Groups without checks have no reasons."""
    late = _late([group for group in groups if group.pk in checks], now)
    found: dict[int, tuple[Reason, ...]] = {group.pk: () for group in groups}
    for group in groups:
        if (checks_of := checks.get(group.pk)) is not None:
            of_owners, of_retries = ownership_reasons(checks_of.ownership), retry_reasons(checks_of)
            found[group.pk] = (*of_owners, *of_retries, *late.get(group.cluster_id, ()))
    return found


def ownership_reasons(check: OwnershipCheck) -> tuple[Reason, ...]:
    """One for each code that is more than worth knowing."""
    codes: dict[tuple[str, HealthLevel], int] = {}
    for finding in check.findings:
        if finding.severity in OF_SEVERITY:
            key = (finding.code.value, OF_SEVERITY[finding.severity])
            queues = {*finding.unowned, *finding.doubly_owned, *finding.queues}
            codes[key] = codes.get(key, 0) + len(queues)
    found = [
        Reason(HealthCode.OWNERSHIP, level, {"finding": code} | ({"queues": queues} if queues else {}))
        for (code, level), queues in codes.items()
    ]
    if check.unknown is not None:
        found.append(Reason(HealthCode.OWNERSHIP_UNKNOWN, HealthLevel.UNKNOWN))
    return tuple(found)


def retry_reasons(checks: GroupChecks) -> tuple[Reason, ...]:
    """What was set on purpose is told, and no fault."""
    reasons = []
    for condition in checks.conditions:
        if condition.finding is not None and condition.severity in OF_SEVERITY:
            level = OF_SEVERITY.get(condition.finding.severity, HealthLevel.OK)
            reasons.append(
                Reason(
                    HealthCode.RETRY_CHECK, level, {"finding": condition.finding.code.value, **condition.finding.params}
                )
            )
    doubtful = [FINDINGS[one.name].value for one in checks.doubtful if one.severity in OF_SEVERITY]
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


# Findings of all groups at once, or of some: DLQ inflow, blocked queues, and members that do not settle.
# The newest minutes that were evaluated: one missed minute does not make the finding unknown.
NEWEST = 5

# Written into the statement: SQLite uses a partial index only where it sees the value.
ZERO = Func(template="0", output_field=IntegerField())


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
    judged_until = evaluated_until(now)
    if judged_until is None or judged_until < limits().judged_since(now):
        since = {} if judged_until is None else {"since": judged_until.isoformat()}
        for group in used:
            found.add(group, Reason(HealthCode.EVALUATION_LATE, HealthLevel.UNKNOWN, since))
    else:
        _dead_letters(found, floor(judged_until, MINUTE), only, used)
        _rebalances(found, judged_until, now, only, used)
    return {group: tuple(reasons) for group, reasons in found.reasons.items() if group in every}


def _of(rows: QuerySet[Any], only: Collection[int] | None, name: str = "group") -> QuerySet[Any]:
    return rows if only is None else rows.filter(**{f"{name}__in": only})


def _blocked(found: _FoundReasons, now: datetime, only: Collection[int] | None, used: set[int]) -> None:
    heads = _of(unfinished_heads(settings.CONSUMERSCOPE_BLOCKED_AFTER_SECONDS, now), only).order_by()
    counted = heads.values_list("group_id").annotate(Count("queue", distinct=True), Min("head_since"))
    for group, queues, since in counted:
        if group in used:
            parameters = {"queues": queues, "since": since.isoformat()}
            found.add(group, Reason(HealthCode.BLOCKED_QUEUES, HealthLevel.WARNING, parameters))


def _dead_letters(found: _FoundReasons, end: datetime, only: Collection[int] | None, used: set[int]) -> None:
    """The newest minutes give the rate, the day gives the count; the time before the first reading is unknown."""
    minutes = _of(GroupWindow.objects.filter(step_seconds=60, start__lt=end), only).order_by()
    newest = Q(start__gte=end - NEWEST * MINUTE)
    known = minutes.filter(newest, into_dlq__isnull=False).values_list("group_id").annotate(Count("pk"))
    minutes_known = dict(known)
    died = minutes.filter(into_dlq__gt=ZERO, start__gte=end - DAY).values("group_id")
    rows = died.annotate(day=Sum("into_dlq"), late=Sum("into_dlq", filter=newest))
    sums = {row["group_id"]: (row["day"], row["late"]) for row in rows}
    whole = dict(GroupState.objects.filter(pk__in=sums).values_list("pk", "dlq_day_messages"))
    for group, (day, late) in sums.items():
        parameters: dict[str, Any] = {"day_messages": day}
        if whole.get(group) is not None:
            parameters = {"day_messages": max(day, whole[group] or 0), "is_whole_day": True}
        if late:
            parameters["per_minute"] = round(late / minutes_known[group], 1)
        found.add(group, Reason(HealthCode.DLQ_INFLOW, HealthLevel.WARNING, parameters))
    for group in used - minutes_known.keys():
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
            parameters = {"level": row.level.value} | {name: number for name, number in numbers.items() if number}
            if row.is_hour_partial if row.rebalances_hour else row.is_day_partial:
                parameters["is_at_least"] = True
            found.add(group, Reason(HealthCode.REBALANCES, HealthLevel.WARNING, parameters))
    for group, one in changing.items():
        # A group that began to change a moment ago cannot have been changing for too long.
        is_open = one.seconds is None and not one.is_rollout and judged_until - one.since >= enough()
        if is_open and group in used and group not in loud:
            found.add(group, Reason(HealthCode.REBALANCES_UNKNOWN, HealthLevel.UNKNOWN))


# Groups with their health findings: as stored for lists, or computed for one group.

HEALTH_RANKS = {level: rank for rank, level in enumerate(LEVELS)}


# By the rank of a state.
RANK_OF_STATE = {rank: HEALTH_RANKS[OF_STATE[state]] for state, rank in RANKS.items()}

# Written out, so that the database computes the rank of the state once and not for each level.
OF_RANK = "CASE %(expressions)s {} END".format(
    " ".join(f"WHEN {rank} THEN {health}" for rank, health in RANK_OF_STATE.items())
)


def noted(row: GroupHealth | None) -> Findings:
    """`row`: as the health task stored it; null where it has not checked the group yet."""
    if row is None:
        return Findings()
    of_all, of_one = (tuple(map(Reason.of_json, stored)) for stored in (row.noticed, row.checked))
    return Findings(of_all, of_one, row.noted_at, row.checked_at)


def looked_up(shown: ShownGroup) -> ShownGroup:
    """Computes the findings now. Some thirty queries."""
    group, now = shown.group, shown.overlay.now
    found = Findings(noticed(now, [group.pk])[group.pk], checked([group], now)[group.pk], now, now)
    return replace(shown, findings=found)


def with_health_rank(groups: QuerySet[Any], overlay: Overlay) -> QuerySet[Any]:
    """Adds `shown_health_rank`, by which lists are ordered: 0 is critical. The rules are those of health/verdict.py."""
    limits, now = health_limits(), overlay.now
    ok, unknown = (Value(HEALTH_RANKS[level]) for level in (HealthLevel.OK, HealthLevel.UNKNOWN))
    stored = [When(health__level=level, then=Value(rank)) for level, rank in HEALTH_RANKS.items()]
    is_late = (
        Q(health__noted_at__isnull=True)
        | Q(health__noted_at__lt=now - limits.noted)
        | Q(health__checked_at__isnull=True)
        | Q(health__checked_at__lt=now - limits.checked)
    )
    number = models.IntegerField()
    return groups.alias(
        state_health=Func(F("shown_rank"), template=OF_RANK, output_field=number),
        found_health=Case(*stored, default=unknown, output_field=number),
        late_health=Case(When(is_late, then=unknown), default=ok, output_field=number),
    ).alias(shown_health_rank=Least(F("state_health"), F("found_health"), F("late_health")))
