"""Rebalances as marks on a time axis: one mark for each episode, one for each group that flaps."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, F, Max, Min

from consumers.models import Rebalance

from .event_name import moment_text
from .filters import filtered, words_of
from .rows import RebalanceFilters

EPISODES_SHOWN = 200


@dataclass(frozen=True)
class Mark:
    """Rebalances of one group that follow one another: an episode, or the episodes of a group that flaps.

    `at` is the name of its newest rebalance (event_name.py), `causes` are those of that one.
    """

    cluster: str
    group: str
    since: datetime
    until: datetime
    rebalances: int
    episodes: int
    at: str
    causes: tuple[str, ...]
    rollout: bool


def rebalance_marks(filters: RebalanceFilters) -> list[Mark]:
    """Newest first, at most EPISODES_SHOWN episodes. A group with as many episodes within any hour as flapping takes
    is one mark, unless it is the only group that was asked for. Two queries."""
    marks = _episodes(filters)
    return marks if filters.group else list(_one_for_each_that_flaps(marks))


def _episodes(filters: RebalanceFilters) -> list[Mark]:
    found = filtered(filters).order_by().values("group_id", "episode_since")
    rows: list[Any] = list(
        found.annotate(
            since=Min("started_before"),
            changed=Max("last_change_at"),
            settled=Max("settled_at"),
            newest=Max("started_before"),
            rebalances=Count("pk"),
        ).order_by("-newest")[:EPISODES_SHOWN]
    )
    newest = _newest({row["group_id"] for row in rows}, {row["newest"] for row in rows})
    return [
        _mark(row, newest[row["group_id"], row["newest"]]) for row in rows if (row["group_id"], row["newest"]) in newest
    ]


def _newest(groups: set[int], moments: set[datetime]) -> dict[tuple[int, datetime], Any]:
    rows: Iterable[Any] = Rebalance.objects.filter(group__in=groups, started_before__in=moments).values(
        "group_id", "started_before", "cause", "rollout", cluster=F("group__cluster__name"), name=F("group__name")
    )
    return {(row["group_id"], row["started_before"]): row for row in rows}


def _mark(row: Any, newest: Any) -> Mark:
    return Mark(
        cluster=newest["cluster"],
        group=newest["name"],
        since=row["since"],
        until=max(row["changed"], row["settled"] or row["changed"]),
        rebalances=row["rebalances"],
        episodes=1,
        at=moment_text(row["newest"]),
        causes=words_of(newest["cause"]),
        rollout=newest["rollout"],
    )


def _one_for_each_that_flaps(marks: list[Mark]) -> Iterable[Mark]:
    groups: dict[tuple[str, str], list[Mark]] = defaultdict(list)
    for mark in marks:
        groups[mark.cluster, mark.group].append(mark)
    for of_group in groups.values():
        yield from [_joined(of_group)] if _flaps(of_group) else of_group


def _flaps(marks: list[Mark]) -> bool:
    """Whether enough episodes began within one hour; `marks` are newest first."""
    enough = int(settings.JUDGE["flapping_episodes_per_hour"])
    return any(
        first.since - last.since <= timedelta(hours=1) for first, last in zip(marks, marks[enough - 1 :], strict=False)
    )


def _joined(marks: list[Mark]) -> Mark:
    newest, oldest = marks[0], marks[-1]
    return Mark(
        cluster=newest.cluster,
        group=newest.group,
        since=oldest.since,
        until=newest.until,
        rebalances=sum(mark.rebalances for mark in marks),
        episodes=len(marks),
        at=newest.at,
        causes=newest.causes,
        rollout=False,
    )
