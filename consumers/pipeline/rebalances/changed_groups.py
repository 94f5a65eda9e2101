"""Which groups may have a rebalance that begins in a run's range, or had one that is not over, and from when on their
changes count: small Arrow tables beside the lake, as known.py makes them.

A run finds the rebalances that begin in its range, and takes up again, from its own beginning, the stored one that is
not over when the range begins: so each is found under the same key in every run, however the time is cut into runs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
from django.db.models import Q

from consumers.models import ConsumerGroup, Rebalance
from consumers.pipeline.durations import Durations
from consumers.pipeline.slices import microseconds
from consumers.polling.members.popping import NO_ANSWER, pop_answers

from .group_facts import GroupFacts
from .tables import GROUPS

# How far a member's clock may be behind: its own time of a change is all that tells of some.
CLOCK = timedelta(seconds=60)


@dataclass(frozen=True)
class ChangedGroups:
    """`rows`: one row per group, with the columns of GROUPS. `reach`: no reading before it is looked at."""

    rows: pa.Table
    reach: datetime

    @classmethod
    def of(
        cls, clusters: Sequence[str], since: datetime, until: datetime, durations: Durations
    ) -> "ChangedGroups | None":
        """None where there is nothing to look at, which is what most runs find. Four queries then, nine otherwise."""
        stored = StoredRebalances.of(clusters, since, until, durations)
        groups = _changed(clusters, since, until, stored.open)
        if not groups:
            return None
        lookback = timedelta(seconds=durations.rebalance_lookback_seconds)
        starts = {
            group.pk: min(since, *stored.begun(group.pk)) if stored.begun(group.pk) else since for group in groups
        }
        reach = min(starts.values()) - lookback
        pops = pop_answers(starts)
        facts = GroupFacts.of(groups, reach, until)
        rows = [
            {
                "cluster": group.cluster.name,
                "group": group.name,
                "since_us": microseconds(starts[group.pk]),
                "reach_us": microseconds(starts[group.pk] - lookback),
                "opened_us": next(map(microseconds, stored.begun(group.pk)), None),
                "shares_queues": pops.get(group.pk, NO_ANSWER).pops is not True,
                **stored.episode_before(group.pk),
                "subscribed": sorted({one["topic"] for one in group.subscriptions}),
                **facts.of_group(group),
            }
            for group in groups
        ]
        return cls(pa.Table.from_pylist(rows, GROUPS), reach)


@dataclass(frozen=True)
class StoredRebalances:
    """Of a group: `open`, the one that is not over when the range begins, and `before`, the one before that."""

    open: dict[int, Rebalance]
    before: dict[int, Rebalance]
    episodes: dict[tuple[int, datetime], datetime | None]

    @classmethod
    def of(cls, clusters: Sequence[str], since: datetime, until: datetime, durations: Durations) -> "StoredRebalances":
        # One that never settled is given up so long after its last change; two in a row are one that was cut.
        longest = timedelta(seconds=durations.rebalance_longest_seconds)
        lately = since - 2 * longest - timedelta(seconds=durations.rebalance_merge_seconds)
        rows = Rebalance.objects.filter(
            group__cluster__name__in=clusters, started_before__lt=since, last_change_at__gte=lately
        ).order_by("started_before")
        opened: dict[int, Rebalance] = {}
        before: dict[int, Rebalance] = {}
        for row in rows:
            is_over = row.settled_at < since if row.settled_at else row.last_change_at <= since - longest
            if is_over:
                before[row.group_id] = row
                opened.pop(row.group_id, None)
            else:
                opened.setdefault(row.group_id, row)
        return cls(opened, before, _episode_starts(before.values()))

    def begun(self, group: int) -> tuple[datetime, ...]:
        return (self.open[group].started_before,) if group in self.open else ()

    def episode_before(self, group: int) -> dict[str, int | None]:
        row = self.before.get(group)
        if row is None:
            return {"episode_end_us": None, "episode_us": None, "episode_after_us": None}
        after = self.episodes.get((group, row.episode_since))
        return {
            "episode_end_us": microseconds(row.settled_at or row.last_change_at),
            "episode_us": microseconds(row.episode_since),
            "episode_after_us": microseconds(after) if after else None,
        }


def _episode_starts(rows: Iterable[Rebalance]) -> dict[tuple[int, datetime], datetime | None]:
    """The last reading before the episodes of `rows` began."""
    firsts = Rebalance.objects.filter(
        group__in={row.group_id for row in rows}, started_before__in={row.episode_since for row in rows}
    )
    return {
        (group, at): after for group, at, after in firsts.values_list("group_id", "started_before", "started_after")
    }


def _changed(clusters: Sequence[str], since: datetime, until: datetime, opened: Iterable[int]) -> list[ConsumerGroup]:
    """A group that changed again after the range keeps the later time only: it is looked at all the same."""
    touched = Q(members_changed_at__gte=since) | Q(sub_version__gte=since - CLOCK) | Q(pk__in=list(opened))
    groups = ConsumerGroup.objects.filter(touched, cluster__name__in=clusters, first_seen_at__lt=until)
    return list(groups.select_related("cluster").order_by("pk"))
