"""Groups with their health findings: as stored for lists, or computed for one group."""

from dataclasses import replace
from typing import Any

from django.db import models
from django.db.models import Case, F, Func, Q, QuerySet, Value, When
from django.db.models.functions import Least

from consumers.groups.health.checks import checked, noticed
from consumers.groups.health.rows import LEVELS, Reason
from consumers.groups.health.verdict import OF_STATE, Findings, health_limits
from consumers.groups.overlay import RANKS, Overlay
from consumers.groups.shown import ShownGroup
from consumers.models import GroupHealth, HealthLevel

HEALTH_RANKS = {level: rank for rank, level in enumerate(LEVELS)}


# Written out, so that the database computes the rank of the state once and not for each level.
OF_RANK = "CASE %(expressions)s {} END".format(
    " ".join(f"WHEN {rank} THEN {HEALTH_RANKS[OF_STATE[state]]}" for state, rank in RANKS.items())
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
