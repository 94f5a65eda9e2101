"""What checks of single groups find: their ownership, and what their retries need."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from consumers.models import ConsumerGroup, GroupKind, HealthLevel
from consumers.polling.flags import ghosts
from consumers.selectors.limits import limits
from consumers.selectors.ownership.finding import Level, OwnershipCheck
from consumers.selectors.ownership.findings import ownership_check
from consumers.selectors.retries.checks.condition_rows import Condition, ConditionName, Severity
from consumers.selectors.retries.checks.conditions import conditions
from consumers.selectors.retries.checks.load_facts import facts_of
from consumers.selectors.retries.levels.delay_levels import cluster_levels

from .rows import HealthCode, Reason

OF_LEVEL = {Level.PROBLEM: HealthLevel.CRITICAL, Level.WARNING: HealthLevel.WARNING}
OF_SEVERITY = {Severity.CRITICAL: HealthLevel.CRITICAL, Severity.WARNING: HealthLevel.WARNING}
# Whoever set these knows what follows: worth knowing, and no fault.
ON_PURPOSE = frozenset({ConditionName.ENABLED, ConditionName.RETRIED})
# Members answer these: of a group without one there is nobody to ask.
OF_MEMBERS = frozenset({ConditionName.TIMEOUT, ConditionName.RETRIED})


def checked(groups: Sequence[ConsumerGroup], now: datetime) -> dict[int, tuple[Reason, ...]]:
    """By the group's id; their clusters must be loaded with them. Some ten queries for each group.

    Nothing is checked of system groups, and of ghosts, which nobody uses any more.
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
    """By the cluster's id. It concerns every group with queues there: a warning, and not as many critical groups."""
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
