"""Rebalances as marks on a time axis: one mark for each episode, or one for an unstable group."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from consumers.models import ConsumerGroup
from consumers.queries.declared import copied

from .events import filtered, moment_text, sizes_of
from .rows import RebalanceFilters, words_of

EPISODES_SHOWN, REBALANCES_LOOKED_AT = 200, 2000
COLUMNS = ("group_id", "episode_since", "started_before", "last_change_at", "settled_at", "cause", "rollout")


@dataclass(frozen=True)
class Mark:
    """Consecutive rebalances of one group: an episode, or all episodes of an unstable group.

    `at` is the name of its newest rebalance (event_name.py), `causes` are the causes of that one.
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
    """Newest first: at most EPISODES_SHOWN, of the newest REBALANCES_LOOKED_AT rebalances. Four queries.

    A group with as many episodes within any hour as flapping takes is one mark, unless only its own marks were asked
    for.
    """
    marks = _episodes(filters)
    return marks if filters.group else list(_one_for_each_that_flaps(marks))


def _episodes(filters: RebalanceFilters) -> list[Mark]:
    newest: dict[tuple[int, datetime], Any] = {}
    for row in filtered(filters).values(*COLUMNS)[:REBALANCES_LOOKED_AT]:
        newest.setdefault((row["group_id"], row["episode_since"]), row)
    shown = list(newest.items())[:EPISODES_SHOWN]
    sizes = sizes_of([episode for episode, _row in shown])
    groups = ConsumerGroup.objects.select_related("cluster").in_bulk([group for (group, _since), _row in shown])
    return [_mark(row, groups[episode[0]], sizes[episode]) for episode, row in shown]


def _mark(newest: Any, group: ConsumerGroup, rebalances: int) -> Mark:
    return Mark(
        cluster=group.cluster.name,
        group=group.name,
        since=newest["episode_since"],
        until=newest["settled_at"] or newest["last_change_at"],
        rebalances=rebalances,
        episodes=1,
        at=moment_text(newest["started_before"]),
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
    return copied(
        Mark,
        newest,
        since=oldest.since,
        rebalances=sum(mark.rebalances for mark in marks),
        episodes=len(marks),
        rollout=False,
    )
