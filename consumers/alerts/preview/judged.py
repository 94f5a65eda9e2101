"""Values that are known from one evaluation, or one reading, to the next: states, how many rebalances there were within
an hour, and how old readings and evaluations themselves were.

A state stays while evaluations are late, as pages and rules have it then; rebalances are not known.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

import numpy as np

from consumers.alerts.preview.values import MICROSECOND, Grid
from consumers.models import ConsumerGroup, GroupState, Reading, Rebalance, State, StateChange
from consumers.pipeline.slices import microseconds
from consumers.queries.reset_marks import RULES, Jump, causes

from .replay import CODES
from .values import PastScan, Values, good_runs, moments_in, sampled, spans_of

HOUR = timedelta(hours=1)
# Of so many jumps are resets looked up at once: each names its group in the statement.
LOOKED_UP_AT_ONCE = 500
Key = tuple[str, str]  # cluster, broker


def evaluated_moments(grid: Grid) -> np.ndarray:
    """At which moments of the grid there was a last evaluation, however long before."""
    first = good_runs(grid).order_by("until").values_list("until", flat=True).first()
    return np.zeros(grid.count, bool) if first is None else grid.at_us >= microseconds(first)


class Change(NamedTuple):
    """At `at` the judgement said `after` for the first time."""

    pk: int
    group_id: int
    at: datetime
    before: str | None
    after: str
    rule: str
    detail: Mapping[str, Any]

    @property
    def since(self) -> datetime:
        """Of what stands still: since it stands, as the judgement counts it. Else when it was judged."""
        seconds = self.detail.get("still_seconds")
        return self.at if seconds is None else self.at - timedelta(seconds=seconds)


def state_values(scan: PastScan) -> Iterator[Values]:
    """A state's code; NaN is UNKNOWN, or before the first evaluation. Since when is told where the change was in the
    range; what a reset from here led to is spared."""
    grid = scan.grid
    return sampled(spans_of(list(_state_spans(scan.groups, grid))), grid, known=evaluated_moments(grid))


def _state_spans(places: Mapping[int, int], grid: Grid) -> Iterator[tuple[object, ...]]:
    end = grid.last_us + 1
    changes: dict[int, list[Change]] = {}
    # Those after the range as well: the first tells what was before it.
    for change in changes_of(places, grid.since):
        changes.setdefault(change.group_id, []).append(change)
    newest = dict(GroupState.objects.order_by().values_list("group_id", "state"))
    by_resets = led_to_by_resets([change for own in changes.values() for change in own])
    for group, place in places.items():
        own = changes.get(group, [])
        begins = [*(min(end, microseconds(change.at)) for change in own), end]
        yield place, grid.first_us, begins[0], _code(own[0].before if own else newest.get(group)), np.nan, False
        for change, (begin, following) in zip(own, pairwise(begins), strict=True):
            since = microseconds(change.since)
            yield place, begin, following, _code(change.after), since, change.pk in by_resets


def _code(state: str | None) -> float:
    return np.nan if state is None or state == State.UNKNOWN else CODES[State(state)]


def changes_of(groups: Mapping[int, int] | set[int], since: datetime) -> Iterator[Change]:
    """Those at `since` and later, the oldest first."""
    found = StateChange.objects.filter(at__gte=since).order_by("at")
    for row in found.values_list(*Change._fields).iterator():
        change = Change._make(row)
        if change.group_id in groups:
            yield change


def led_to_by_resets(changes: Sequence[Change]) -> set[int]:
    """The keys of those whose offset somebody had set from here."""
    jumps = {jump: change.pk for change in changes if (jump := _jump(change)) is not None}
    looked_up = list(jumps)
    found: set[int] = set()
    for begin in range(0, len(looked_up), LOOKED_UP_AT_ONCE):
        said = causes(looked_up[begin : begin + LOOKED_UP_AT_ONCE])
        found |= {jumps[jump] for jump, cause in said.items() if "reset" in cause}
    return found


def _jump(change: Change) -> Jump | None:
    if change.rule not in RULES:
        return None
    topic, broker, queue_id = (change.detail.get(name) for name in ("topic", "broker", "queue_id"))
    if topic is None or broker is None or queue_id is None:
        return None
    return Jump(change.group_id, topic, broker, queue_id, change.rule, change.since, change.at)


def rebalance_values(places: Mapping[int, int], grid: Grid, judged: np.ndarray) -> Iterator[Values]:
    """How many episodes had a rebalance begin within the hour before.

    Nobody can say of groups whose members were never asked for that they were not rebalanced.
    """
    began = Rebalance.objects.filter(started_before__gte=grid.since - HOUR, started_before__lt=grid.until)
    counted: dict[int, dict[datetime, list[datetime]]] = {}
    for group, episode, at in began.order_by("started_before").values_list(
        "group_id", "episode_since", "started_before"
    ):
        counted.setdefault(group, {}).setdefault(episode, []).append(at)
    asked = ConsumerGroup.objects.filter(membership_at__isnull=False).values_list("pk", flat=True)
    for group in (group for group in asked if group in places):
        # Of an episode each rebalance counts until the next one does.
        spans = [
            (microseconds(at), microseconds(at + HOUR if later is None else min(later, at + HOUR)))
            for times in counted.get(group, {}).values()
            for at, later in zip_longest(times, times[1:])
        ]
        from_us, to_us = np.array(spans, np.int64).reshape(-1, 2).T
        found = np.bincount(moments_in(from_us, to_us, grid)[1], minlength=grid.count).astype(float)
        yield Values(np.array([places[group]]), np.where(judged, found, np.nan)[None, :])


Seen = Iterator[tuple[Key, datetime, bool]]


def age_values(
    seen: Seen, places: Mapping[Key, int], grid: Grid, holds_for: timedelta, *, is_asked: bool = False
) -> Iterator[Values]:
    """Seconds since it was last well, and since_us, when that was; not before it first was. And spared: it is no older
    than the site's own intervals make it.

    `seen`: what was asked when, and whether it was well, in order of time. `places` by cluster and broker; of the site
    both are empty. `holds_for`: so long after a reading its cluster is being read, and after a judgement the site is
    being judged. `is_asked`: while a cluster is not being read nobody asks, so that the age is not known.
    """
    width = holds_for // MICROSECOND
    well: dict[Key, list[list[int]]] = {key: [] for key in places}
    asked: dict[str, list[int]] = {}
    for key, at, is_well in seen:
        moment = microseconds(at)
        asked.setdefault(key[0], []).append(moment)
        times = well.get(key)
        if times is None:
            continue
        if is_well:
            times.append([moment, moment + width])
        elif times:
            # What failed when it was last asked is not as it is set to be.
            times[-1][1] = min(times[-1][1], moment - 1)
    for key, times in well.items():
        from_us, due_us = np.array(times, np.int64).reshape(-1, 2).T
        held = np.array(asked.get(key[0], []), np.int64)
        known = grid.within(held, held + width) if is_asked else np.ones(grid.count, bool)
        newest = np.searchsorted(from_us, grid.at_us, "right") - 1
        known &= newest >= 0
        since, value, is_due = np.full(grid.count, np.nan), np.full(grid.count, np.nan), np.zeros(grid.count, bool)
        since[known] = from_us[newest[known]]
        value[known] = (grid.at_us[known] - since[known]) / 1e6
        is_due[known] = grid.at_us[known] <= due_us[newest[known]]
        yield Values(np.array([places[key]]), value[None, :], since[None, :], is_due[None, :])


def evaluations_seen(grid: Grid) -> Seen:
    for until in good_runs(grid).order_by("until").values_list("until", flat=True).iterator():
        yield ("", ""), until, True


def clusters_seen(grid: Grid) -> Seen:
    for cluster, at, _, _ in _readings(grid):
        yield (cluster, ""), at, True


def name_servers_seen(grid: Grid) -> Seen:
    for cluster, at, _, error in _readings(grid):
        yield (cluster, ""), at, error is None


def brokers_seen(grid: Grid) -> Seen:
    for cluster, at, brokers, error in _readings(grid):
        if error is None or any(one["error"] != error for one in brokers):
            # Else nothing of the cluster was read: that is told of the cluster.
            yield from (((cluster, one["name"]), at, bool(one["read"])) for one in brokers)


def _readings(grid: Grid) -> Iterator[tuple[str, datetime, list[dict[str, Any]], str | None]]:
    rows = Reading.objects.filter(taken_at__lte=grid.until).order_by("taken_at")
    return rows.values_list("cluster__name", "taken_at", "brokers", "error").iterator()
