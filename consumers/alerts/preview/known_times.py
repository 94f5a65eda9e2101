"""Removes from the values of a preview what was not known when rules were evaluated. Windows, rebalances and states are
stored as they were found in the end. A rule saw less: nothing of a group while a broker with queues of it was not read,
no rebalance while no broker listed the members, no rate while evaluations were late."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property
from typing import NamedTuple

import numpy as np

from consumers.models import ConsumerGroup, Reading, State
from consumers.queries.groups import brokers_of
from consumers.queries.limits import limits
from consumers.vocabulary.times import MICROSECOND, microseconds

from .judged import CODES
from .values import Grid, Need, PastScan, Values, good_runs, until_next
from .windows import member_values

# These may be of a queue on a broker that still answers; any other state is not known while a broker is silent.
WORSE_THAN_UNKNOWN = [CODES[state] for state in State if CODES[state] < CODES[State.UNKNOWN]]
OF_BROKERS = frozenset({Need.SCRAPED, Need.HEARD, Need.DISPATCHED, Need.DISPATCHED_OR_BOUND})
NEVER = np.empty(0, np.int64)


def known_then(found: Iterator[Values], scan: PastScan, needs: Collection[Need]) -> Iterator[Values]:
    known = KnownTimes(scan, frozenset(needs))
    return (known.of(values) for values in found) if needs else found


class BrokerTimes(NamedTuple):
    """Of one broker, or of a cluster as a whole, at each moment of the grid. Before the first poll that is retained it
    counts as read.
    """

    is_read: np.ndarray  # its newest poll was good, and young enough
    is_heard: np.ndarray  # some poll was good lately
    is_exact: np.ndarray  # it was not behind with its dispatch
    was_never_read: np.ndarray


@dataclass
class Polls:
    """Those of one broker, in microseconds and in order. `behind`: of each good one, whether the broker was behind with
    its dispatch.
    """

    first: int
    good: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    behind: list[bool] = field(default_factory=list)

    def note(self, at: int, *, is_read: bool, is_behind: bool = False) -> None:
        if is_read:
            self.good.append(at)
            self.behind.append(is_behind)
        else:
            self.failed.append(at)

    def times(self, grid: Grid, late: timedelta, silence: timedelta) -> BrokerTimes:
        good, failed = np.array(self.good, np.int64), np.array(self.failed, np.int64)
        is_before, behind = grid.at_us < self.first, np.array(self.behind, bool)
        following = np.append(good[1:], grid.last_us + 1)[: len(good)]
        return BrokerTimes(
            is_read=is_before | grid.within(good, until_next(failed, good, late // MICROSECOND)),
            is_heard=is_before | grid.within(good, until_next(NEVER, good, silence // MICROSECOND)),
            is_exact=~grid.within(good[behind], following[behind]),
            was_never_read=~is_before & (grid.at_us < min(self.good, default=np.inf)),
        )


class GroupTimes(NamedTuple):
    """Of the brokers that hold queues of a group. `is_any_heard`: a state may be of a queue on one of them."""

    is_read: np.ndarray
    is_heard: np.ndarray
    is_any_heard: np.ndarray
    is_exact: np.ndarray


@dataclass(frozen=True)
class ClusterTimes:
    """`whole`: of polls that any broker answered."""

    whole: BrokerTimes
    brokers: Mapping[str, BrokerTimes]

    def of(self, held: Collection[str], *, in_part: bool) -> GroupTimes:
        """`held`: the brokers of the group. `in_part`: only those of a topic count. A broker that was never read may
        have queues of every group.
        """
        own = [self.brokers[name] for name in held if name in self.brokers]
        others = [] if in_part else [times for name, times in self.brokers.items() if name not in held]
        every = list(self.brokers.values()) or [self.whole]
        read = [self.whole.is_read, *(times.is_read for times in own), *(~times.was_never_read for times in others)]
        heard = [times.is_heard for times in own] or [self.whole.is_heard]
        return GroupTimes(
            np.logical_and.reduce(read) & np.logical_or.reduce([times.is_read for times in every]),
            np.logical_and.reduce(heard),
            np.logical_or.reduce(heard),
            np.logical_and.reduce([np.ones_like(self.whole.is_read), *(times.is_exact for times in own)]),
        )


@dataclass(frozen=True)
class KnownTimes:
    """A few queries, and one for each 500 groups."""

    scan: PastScan
    needs: frozenset[Need]
    _of_held: dict[tuple[str, frozenset[str]], GroupTimes] = field(default_factory=dict)

    def of(self, values: Values) -> Values:
        value, bound = values.value.copy(), np.zeros(values.value.shape, bool)
        if Need.EVALUATED in self.needs:
            value[:, ~self._is_evaluated] = np.nan
        if Need.EVALUATED_UNLESS_ZERO in self.needs:
            value[~self._is_evaluated & (value != 0)] = np.nan
        for row, place in enumerate(values.places.tolist()):
            if (times := self._times_of(place)) is not None:
                self._leave_out(times, value[row], bound[row])
            if Need.MEMBERS in self.needs:
                value[row, ~self._are_members_known(place)] = np.nan
        return replace(values, value=value, is_bound=bound if bound.any() else values.is_bound)

    def _leave_out(self, times: GroupTimes, value: np.ndarray, bound: np.ndarray) -> None:
        """Changes `value` and `bound`, of the moments of one group."""
        if Need.SCRAPED in self.needs:
            value[~times.is_read] = np.nan
        if Need.HEARD in self.needs:
            may_stay = np.isin(value, WORSE_THAN_UNKNOWN) & times.is_any_heard & self._is_evaluated
            value[~times.is_heard & ~may_stay] = np.nan
        if Need.DISPATCHED in self.needs:
            value[~times.is_exact] = np.nan
        if Need.DISPATCHED_OR_BOUND in self.needs:
            bound |= ~times.is_exact

    def _times_of(self, place: int) -> GroupTimes | None:
        """Null where no poll of the group's cluster is retained, or nothing depends on one."""
        if not self.needs & OF_BROKERS:
            return None
        cluster, held = self._cluster_of.get(place, ""), self._held.get(place, frozenset())
        if (cluster, held) not in self._of_held and cluster in self._clusters:
            self._of_held[cluster, held] = self._clusters[cluster].of(held, in_part=bool(self.scan.topic))
        return self._of_held.get((cluster, held))

    @cached_property
    def _is_evaluated(self) -> np.ndarray:
        """Runs are not retained for as long as windows: before the first of them nothing is left out."""
        grid = self.scan.grid
        first = good_runs(grid).order_by("until").values_list("until", flat=True).first()
        if first is None:
            return np.ones(grid.count, bool)
        return self.scan.judged_moments | (grid.at_us < microseconds(first))

    @cached_property
    def _clusters(self) -> dict[str, ClusterTimes]:
        """By name, of clusters that were polled."""
        grid, holds, limit = self.scan.grid, self.scan.retention, limits().dispatch_behind_bytes
        found: dict[str, dict[str, Polls]] = {}
        since = grid.since - max(holds.reading, holds.silence)
        rows = Reading.objects.filter(taken_at__gte=since, taken_at__lte=grid.until).order_by("taken_at")
        columns = ("cluster__name", "taken_at", "brokers", "error")
        for cluster, taken_at, brokers, error in rows.values_list(*columns).iterator():
            polls, at = found.setdefault(cluster, {}), microseconds(taken_at)
            is_any_read = error is None or any(one["read"] for one in brokers)
            polls.setdefault("", Polls(at)).note(at, is_read=is_any_read)
            for one in brokers:
                is_behind = (one.get("dispatch_behind_bytes") or 0) > limit
                polls.setdefault(one["name"], Polls(at)).note(at, is_read=bool(one["read"]), is_behind=is_behind)
        return {cluster: self._times(polls) for cluster, polls in found.items()}

    def _times(self, polls: Mapping[str, Polls]) -> ClusterTimes:
        holds = self.scan.retention
        times = {name: own.times(self.scan.grid, holds.reading, holds.silence) for name, own in polls.items()}
        return ClusterTimes(times.pop(""), times)

    @cached_property
    def _cluster_of(self) -> dict[int, str]:
        """By place."""
        groups = self.scan.groups
        rows = ConsumerGroup.objects.order_by().values_list("pk", "cluster__name").iterator()
        return {groups[pk]: cluster for pk, cluster in rows if pk in groups}

    @cached_property
    def _held(self) -> dict[int, frozenset[str]]:
        """By place the brokers that hold queues of the group today, or of its part of the topic."""
        groups = self.scan.groups
        held = brokers_of(groups, self.scan.topic)
        return {groups[group]: frozenset(brokers) for group, brokers in held.items()}

    def _are_members_known(self, place: int) -> np.ndarray:
        grid, packed = self.scan.grid, self._members_known.get(place)
        return np.zeros(grid.count, bool) if packed is None else np.unpackbits(packed, count=grid.count) > 0

    @cached_property
    def _members_known(self) -> dict[int, np.ndarray]:
        """By place, at which moments the number of members is known."""
        return {
            place: np.packbits(~np.isnan(row))
            for values in member_values(self.scan)
            for place, row in zip(values.places.tolist(), values.value, strict=True)
        }
