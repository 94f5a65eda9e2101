"""Unstable groups: rebalances are counted in episodes, so that a rollout counts once, whatever its size."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from consumers.models import ConsumerGroup, Rebalance
from consumers.queries.limits import evaluated_until, limits
from consumers.queries.unwatched import Span, quiet, unread_spans, unwatched_spans
from consumers.vocabulary.reasons import ReasonCode
from consumers.vocabulary.times import iso
from consumers.words.reasons import coded_reason

from .events import LONGEST, filtered
from .rows import RebalanceFilters

# Groups whose members keep changing, and for how long: pages, rules and /metrics use these values.
# An episode ends once its last rebalance has been settled for a minute (JUDGE's rebalance_merge_seconds). Crashes less
# than a minute apart are one episode, however many there are.


class Newest(NamedTuple):
    """The newest rebalance of a group."""

    group_id: int
    started_before: datetime
    last_change_at: datetime
    settled_at: datetime | None
    episode_since: datetime
    rollout: bool
    polls: int


@dataclass(frozen=True)
class Unsettled:
    """`seconds`: from `since` to the last change that was seen; null where unknown, and `reason` says why.

    `since`: the start of the episode, or of the part of it that was read without a gap.
    """

    since: datetime
    seconds: float | None
    reason: str
    is_rollout: bool


def unsettled(found: QuerySet[Rebalance], judged_until: datetime) -> dict[int, Unsettled]:
    """By id of the groups of `found`; settled groups are left out. One query; some more where a group is
    not settled.
    """
    rows = {row.group_id: row for row in _newest(found, judged_until)}
    lasting = [row.group_id for row in rows.values() if row.last_change_at > row.episode_since]
    spans: Mapping[int, Sequence[Span]] = {}
    if lasting:
        since = min(rows[group].episode_since for group in lasting)
        spans = unread_spans(set(lasting), since, judged_until, quiet())
    return {pk: _judged(row, spans.get(pk, ()), judged_until) for pk, row in rows.items()}


def enough() -> timedelta:
    return timedelta(seconds=settings.JUDGE["unsettled_after_seconds"])


def is_over_by(row: Newest) -> datetime:
    """When the episode ends at the latest, whether it settled or was given up, if no other rebalance starts before."""
    if row.settled_at is not None:
        return row.settled_at + quiet()
    return row.last_change_at + timedelta(seconds=settings.JUDGE["rebalance_longest_seconds"])


def known_until(row: Newest) -> datetime:
    """Until when the episode is known to be ongoing: complete readings since its last change would have
    agreed by then.
    """
    if row.settled_at is not None:
        return is_over_by(row)
    return row.last_change_at + quiet() + timedelta(seconds=settings.JUDGE["rebalance_patience_seconds"])


def seldom_asked(row: Newest) -> bool:
    """The average time between two of its readings is long enough to settle."""
    end = row.settled_at or row.last_change_at
    return end - row.started_before > quiet() * max(1, row.polls - 1)


def _newest(found: QuerySet[Rebalance], until: datetime) -> list[Newest]:
    longest = timedelta(seconds=settings.JUDGE["rebalance_longest_seconds"])
    is_open = Q(settled_at=None, last_change_at__gt=until - longest)
    later = Rebalance.objects.filter(group=OuterRef("group"), started_before__gt=OuterRef("started_before"))
    rows = found.filter(is_open | Q(settled_at__gt=until - quiet()), ~Exists(later))
    rows = rows.filter(started_before__gte=until - LONGEST, started_before__lte=until).order_by()
    return [Newest._make(values) for values in rows.values_list(*Newest._fields)]


def _judged(row: Newest, spans: Sequence[Span], until: datetime) -> Unsettled:
    gap = next((span for span in reversed(spans) if span[1] > row.episode_since), None)
    since = row.episode_since if gap is None else gap[1]
    lasted = row.last_change_at - since
    reason = ""
    if gap is not None and lasted < enough():
        reason = coded_reason(ReasonCode.MEMBERS_UNREAD_SINCE, begin=iso(gap[0]), end=iso(gap[1]))
    elif seldom_asked(row):
        changing_seconds = (row.last_change_at - row.started_before).total_seconds()
        reason = coded_reason(ReasonCode.SELDOM_ASKED, times=row.polls, changing_seconds=changing_seconds)
    elif until > known_until(row):
        reason = coded_reason(ReasonCode.QUEUES_UNREPORTED_SINCE, since=iso(row.last_change_at))
    return Unsettled(since, None if reason else lasted.total_seconds(), reason, row.rollout)


HOUR, DAY = timedelta(hours=1), timedelta(hours=24)
EPISODES = Count("episode_since", distinct=True)


class Level(StrEnum):
    """Worst first. flapping: many episodes within the hour · unsettled: one that does not end and is no rollout ·
    restless: many within the day · stable."""

    FLAPPING = "flapping"
    UNSETTLED = "unsettled"
    RESTLESS = "restless"
    STABLE = "stable"


LEVEL_WORDS: dict[Level, str | Promise] = {
    Level.FLAPPING: gettext_lazy("flapping"),
    Level.UNSETTLED: gettext_lazy("unstable"),
    Level.RESTLESS: gettext_lazy("frequent rebalances"),
    Level.STABLE: gettext_lazy("stable"),
}


@dataclass(frozen=True)
class Flapping:
    """The episodes with a rebalance in the hour and in the day before a time, and the number of these rebalances.

    `changing_seconds` is how long an ongoing episode has lasted; null where there is none. `is_hour_partial`,
    `is_day_partial`: for a part of it the group was not watched, so that these counts are lower bounds.
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
    is_hour_partial: bool = False
    is_day_partial: bool = False


def flapping_groups(cluster: str | None, now: datetime) -> list[Flapping]:
    """Groups that are not stable, the worst first. Fourteen queries, some more where a group does not settle."""
    found = _flapping(RebalanceFilters(cluster=cluster), now, with_stable=False)
    return sorted(
        found,
        key=lambda row: (list(Level).index(row.level), -row.episodes_hour, -row.episodes_day, row.cluster, row.group),
    )


def flapping_of(cluster: str, group: str, now: datetime) -> Flapping:
    """The result for one group; stable where it has no rebalance, or does not exist. Fourteen queries, or some more."""
    found = _flapping(RebalanceFilters(cluster=cluster, group=group), now, with_stable=True)
    return found[0] if found else Flapping(cluster, group, Level.STABLE, 0, 0, 0, 0, None, None)


def flapping_by_group(
    rebalances: QuerySet[Rebalance], changing: Mapping[int, float], now: datetime
) -> dict[int, Flapping]:
    """Groups of `rebalances` that are not stable, by id. `changing`: how long each has been changing."""
    return _with_partial(_named(_counted(rebalances, now), changing, with_stable=False), now)


def level_of(
    episodes_hour: int, episodes_day: int, changing_seconds: float | None, judge: Mapping[str, float]
) -> Level:
    if episodes_hour >= judge["flapping_episodes_per_hour"]:
        return Level.FLAPPING
    if changing_seconds is not None and changing_seconds >= judge["unsettled_after_seconds"]:
        return Level.UNSETTLED
    return Level.RESTLESS if episodes_day >= judge["restless_episodes_per_day"] else Level.STABLE


def episodes_within_hour(now: datetime) -> dict[int, int]:
    """Episodes with a rebalance in the hour before, by group id; groups without one are left out. One query."""
    return _episodes(HOUR, now)


def episodes_within_day(now: datetime) -> dict[int, int]:
    return _episodes(DAY, now)


def _episodes(span: timedelta, now: datetime) -> dict[int, int]:
    return dict(_begun(Rebalance.objects.all(), span, now).values_list("group_id").annotate(EPISODES))


def _begun(found: QuerySet[Rebalance], span: timedelta, now: datetime) -> QuerySet[Rebalance]:
    return found.filter(started_before__gte=now - span, started_before__lt=now).order_by()


def _flapping(filters: RebalanceFilters, now: datetime, *, with_stable: bool) -> list[Flapping]:
    """`with_stable`: includes stable groups."""
    found = _named(_counted(filtered(filters), now), _changing(filters, now), with_stable=with_stable)
    return list(_with_partial(found, now).values())


def _with_partial(found: dict[int, Flapping], now: datetime) -> dict[int, Flapping]:
    unwatched = unwatched_spans(found, now - DAY, now) if found else {}
    return {
        pk: replace(
            row,
            is_hour_partial=any(end > now - HOUR for _, end in unwatched.get(pk, ())),
            is_day_partial=pk in unwatched,
        )
        for pk, row in found.items()
    }


def _named(
    counted: Mapping[int, dict[str, Any]], changing: Mapping[int, float], *, with_stable: bool
) -> dict[int, Flapping]:
    levels = {pk: level_of(row["hour"], row["day"], changing.get(pk), settings.JUDGE) for pk, row in counted.items()}
    levels = {pk: level for pk, level in levels.items() if with_stable or level != Level.STABLE}
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
    judged_until = evaluated_until(now) or now
    if judged_until < limits().judged_since(now):
        return {}
    found = unsettled(filtered(filters).order_by(), judged_until)
    return {pk: one.seconds for pk, one in found.items() if one.seconds is not None and not one.is_rollout}
