"""Unstable groups: rebalances are counted in episodes, so that a rollout counts once, whatever its size."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db.models import Count, Max, Q, QuerySet

from consumers.models import ConsumerGroup, PipelineRun, Rebalance
from consumers.queries.limits import limits

from .events import filtered
from .rows import RebalanceFilters
from .unsettled import unsettled

HOUR, DAY = timedelta(hours=1), timedelta(hours=24)
EPISODES = Count("episode_since", distinct=True)


class Level(StrEnum):
    """Worst first. flapping: many episodes within the hour · unsettled: one that does not end and is no rollout ·
    restless: many within the day · calm."""

    FLAPPING = "flapping"
    UNSETTLED = "unsettled"
    RESTLESS = "restless"
    CALM = "calm"


@dataclass(frozen=True)
class Flapping:
    """The episodes with a rebalance in the hour and in the day before a time, and the number of these rebalances.

    `changing_seconds` is how long an ongoing episode has lasted; null where there is none.
    """

    cluster: str
    group: str
    level: Level
    episodes_hour: int
    episodes_day: int
    rebalances_hour: int
    rebalances_day: int
    changing_seconds: float | None
    newest_at: datetime | None


def flapping_groups(cluster: str | None, now: datetime) -> list[Flapping]:
    """Groups that are not calm, the worst first. Seven queries, some more where a group does not settle."""
    found = _flapping(RebalanceFilters(cluster=cluster), now, calm=False)
    return sorted(
        found,
        key=lambda row: (list(Level).index(row.level), -row.episodes_hour, -row.episodes_day, row.cluster, row.group),
    )


def flapping_of(cluster: str, group: str, now: datetime) -> Flapping:
    """The result for one group; calm where it has no rebalance, or does not exist. Seven queries, or some more."""
    found = _flapping(RebalanceFilters(cluster=cluster, group=group), now, calm=True)
    return found[0] if found else Flapping(cluster, group, Level.CALM, 0, 0, 0, 0, None, None)


def flapping_by_group(
    rebalances: QuerySet[Rebalance], changing: Mapping[int, float], now: datetime
) -> dict[int, Flapping]:
    """Groups of `rebalances` that are not calm, by id. `changing`: how long each has been changing."""
    return _named(_counted(rebalances, now), changing, calm=False)


def episodes(cluster: str | None, now: datetime) -> dict[int, tuple[int, int]]:
    """Episodes with a rebalance in the hour and in the day before `now`, by group id; groups without one
    are left out.
    """
    found = filtered(RebalanceFilters(cluster=cluster))
    return {pk: (row["hour"], row["day"]) for pk, row in _counted(found, now).items()}


def level_of(
    episodes_hour: int, episodes_day: int, changing_seconds: float | None, judge: Mapping[str, float]
) -> Level:
    if episodes_hour >= judge["flapping_episodes_per_hour"]:
        return Level.FLAPPING
    if changing_seconds is not None and changing_seconds >= judge["unsettled_after_seconds"]:
        return Level.UNSETTLED
    return Level.RESTLESS if episodes_day >= judge["restless_episodes_per_day"] else Level.CALM


def episodes_within_hour(now: datetime) -> dict[int, int]:
    """Episodes with a rebalance in the hour before, by group id; groups without one are left out. One query."""
    return dict(_begun(Rebalance.objects.all(), HOUR, now).values_list("group_id").annotate(EPISODES))


def _begun(found: QuerySet[Rebalance], span: timedelta, now: datetime) -> QuerySet[Rebalance]:
    return found.filter(started_before__gte=now - span, started_before__lt=now).order_by()


def _flapping(filters: RebalanceFilters, now: datetime, *, calm: bool) -> list[Flapping]:
    """`calm`: includes calm groups."""
    return list(_named(_counted(filtered(filters), now), _changing(filters, now), calm=calm).values())


def _named(counted: Mapping[int, dict[str, Any]], changing: Mapping[int, float], *, calm: bool) -> dict[int, Flapping]:
    levels = {pk: level_of(row["hour"], row["day"], changing.get(pk), settings.JUDGE) for pk, row in counted.items()}
    levels = {pk: level for pk, level in levels.items() if calm or level != Level.CALM}
    names = ConsumerGroup.objects.filter(pk__in=list(levels)).values_list("pk", "cluster__name", "name")
    return {
        pk: Flapping(
            cluster=cluster,
            group=group,
            level=levels[pk],
            episodes_hour=counted[pk]["hour"],
            episodes_day=counted[pk]["day"],
            rebalances_hour=counted[pk]["rebalances_hour"],
            rebalances_day=counted[pk]["rebalances_day"],
            changing_seconds=changing.get(pk),
            newest_at=counted[pk]["newest"],
        )
        for pk, cluster, group in names
    }


def _counted(found: QuerySet[Rebalance], now: datetime) -> dict[int, dict[str, Any]]:
    in_hour = Q(started_before__gte=now - HOUR)
    rows: Iterable[Any] = (
        _begun(found, DAY, now)
        .values("group_id")
        .annotate(
            day=EPISODES,
            hour=Count("episode_since", distinct=True, filter=in_hour),
            rebalances_day=Count("pk"),
            rebalances_hour=Count("pk", filter=in_hour),
            newest=Max("started_before"),
        )
    )
    return {row["group_id"]: row for row in rows}


def _changing(filters: RebalanceFilters, now: datetime) -> dict[int, float]:
    """By group, how long episodes have lasted that are known to be ongoing and are no rollout so far."""
    judged = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=now)
    judged_until = judged.order_by("-until").values_list("until", flat=True).first() or now
    if judged_until < limits().judged_since(now):
        return {}
    found = unsettled(filtered(filters).order_by(), judged_until)
    return {pk: one.seconds for pk, one in found.items() if one.seconds is not None and not one.is_rollout}
