"""Values that are known from one evaluation, or one reading, to the next: states, how many rebalances there were within
an hour, and how old readings and evaluations themselves were.

A state stays while evaluations are late, as pages and rules have it then; rebalances are not known.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise, zip_longest
from typing import Any, NamedTuple

import numpy as np

from consumers.alerts.rule_terms import Terms
from consumers.models import Comparison, ConsumerGroup, GroupState, Reading, Rebalance, RepeatEvent, State, StateChange
from consumers.queries.reset_marks import RULES, Jump, causes
from consumers.queries.unwatched import Span, unwatched_spans
from consumers.repeats import SURE
from consumers.vocabulary.states import RuleCode
from consumers.vocabulary.times import MICROSECOND, microseconds

from .values import Grid, PastScan, Values, good_runs, moments_in, sampled, spans_of, until_next

# What a rule makes of values, and the machine of incidents (consumers.alerts.evaluation.machine) over them: all
# subjects at once, each in the order of time.
#
# Values that are not known are left out: they neither fire nor resolve, and leave everything as it is.

SECOND = 1_000_000
# A state as a value.
CODES = {state: float(number) for number, state in enumerate(State)}
INCIDENT = np.dtype(
    [("place", "i8"), ("started_us", "f8"), ("fired_us", "f8"), ("resolved_us", "f8"), ("worst_value", "f8")]
)


@dataclass(frozen=True)
class Observations:
    """Observed values, in the order of subjects and of time. A value that neither passes nor clears lies between the
    two thresholds. `since_us` is NaN where it is not known."""

    place: np.ndarray
    at_us: np.ndarray
    value: np.ndarray
    holds: np.ndarray
    cleared: np.ndarray
    since_us: np.ndarray
    for_us: np.ndarray
    clear_us: np.ndarray


def decided(values: Values, terms: Sequence[Terms]) -> Values:
    """A bound that does not pass the condition is unknown: the actual value may pass it. `terms`: by place."""
    if values.is_bound is None:
        return values
    holds, _ = _compared(values.value, [terms[place] for place in values.places])
    return replace(values, value=np.where(values.is_bound & ~holds, np.nan, values.value), is_bound=None)


def observations(values: Values, at_us: np.ndarray, terms: Sequence[Terms], *, is_age: bool) -> Observations:
    """Of the subjects of which any value holds. `terms`: those of every subject, by place."""
    own = [terms[place] for place in values.places]
    holds, cleared = _compared(values.value, own)
    if values.is_suppressed is not None:
        holds, cleared = holds & ~values.is_suppressed, cleared | (values.is_suppressed & ~np.isnan(values.value))
    rows = np.flatnonzero(holds.any(axis=1))
    row, column = np.nonzero(~np.isnan(values.value[rows]))
    row = rows[row]
    since = np.full(len(row), np.nan) if values.since_us is None else values.since_us[row, column]
    waits = [(one.for_seconds, one.for_seconds_since(is_age=is_age), one.clear_seconds) for one in own]
    for_us, for_us_since, clear_us = np.round(np.array(waits).reshape(-1, 3)[row] * SECOND).T
    for_us = np.where(np.isnan(since), for_us, for_us_since)
    value, holds, cleared = values.value[row, column], holds[row, column], cleared[row, column]
    return Observations(values.places[row], at_us[column], value, holds, cleared, since, for_us, clear_us)


def _compared(value: np.ndarray, own: Sequence[Terms]) -> tuple[np.ndarray, np.ndarray]:
    """Which values hold, and which are beyond neither threshold. NaN does neither."""
    if own and own[0].comparison == Comparison.IN:
        holds = np.isin(value, [CODES[state] for state in own[0].states])
        return holds, ~np.isnan(value) & ~holds
    is_beyond = np.greater if own and own[0].comparison == Comparison.ABOVE else np.less
    limits = np.array([(one.threshold, one.clear_threshold) for one in own], float).reshape(-1, 2)
    holds = is_beyond(value, limits[:, :1])
    # Without a second threshold this is no for all: then the first alone counts.
    return holds, ~np.isnan(value) & ~holds & ~is_beyond(value, limits[:, 1:])


def replayed(seen: Observations, comparison: Comparison) -> np.ndarray:
    """INCIDENT: a row each that fired, in the order of subjects and time; NaN resolved: it fires still at the end, NaN
    worst: states are compared. What was pending and passed, or is pending still, leaves no row."""
    rows = len(seen.place)
    if not rows:
        return np.empty(0, INCIDENT)
    begins = np.ones(rows, bool)
    begins[1:] = (seen.place[1:] != seen.place[:-1]) | (seen.holds[1:] != seen.holds[:-1])
    # A run of looks holds all along, or not at all.
    run, first = np.cumsum(begins) - 1, np.flatnonzero(begins)
    started = np.fmin(seen.since_us[first], seen.at_us[first])
    is_over = ~seen.holds & seen.cleared
    # A look that holds breaks the clearing off, one between the thresholds does not: it begins anew in every run.
    clearing = np.full(len(first), np.inf)
    clearing[run[is_over][::-1]] = seen.at_us[is_over][::-1]
    fires = seen.holds & (seen.at_us - started[run] >= seen.for_us)
    resolves = is_over & (seen.at_us - clearing[run] >= seen.clear_us)
    turns = _turns(seen, run, np.flatnonzero(fires | resolves))
    fired = turns[seen.holds[turns]]
    following = np.append(turns, -1)[np.flatnonzero(seen.holds[turns]) + 1]
    is_resolved = (following >= 0) & (seen.place[following] == seen.place[fired])
    found = np.empty(len(fired), INCIDENT)
    found["place"], found["fired_us"] = seen.place[fired], seen.at_us[fired]
    found["started_us"] = started[run[fired]]
    found["resolved_us"] = np.where(is_resolved, seen.at_us[following], np.nan)
    end = np.where(is_resolved, following, np.searchsorted(seen.place, seen.place[fired], "right"))
    found["worst_value"] = _worst(seen, first[run[fired]], end, comparison)
    return found


def _turns(seen: Observations, run: np.ndarray, events: np.ndarray) -> np.ndarray:
    """Of looks that fire or resolve those at which it does: what fires cannot fire again, nor what rests resolve."""
    # Of each run the first alone can.
    events = events[np.unique(run[events], return_index=True)[1]]
    is_fire, place = seen.holds[events], seen.place[events]
    fired_before = np.zeros(len(events), bool)
    fired_before[1:] = is_fire[:-1] & (place[1:] == place[:-1])
    return events[is_fire != fired_before]


def _worst(seen: Observations, begin: np.ndarray, end: np.ndarray, comparison: Comparison) -> np.ndarray:
    """Of the looks [begin, end) that hold."""
    if comparison == Comparison.IN or not len(begin):
        return np.full(len(begin), np.nan)
    sign = -1.0 if comparison == Comparison.BELOW else 1.0
    held = np.append(np.where(seen.holds, sign * seen.value, -np.inf), -np.inf)
    return sign * np.maximum.reduceat(held, np.stack([begin, end], axis=1).ravel())[::2]


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
        """Returns when a stopped queue last moved, as the evaluation counts it. For any other queue: when it was
        evaluated."""
        seconds = self.detail.get("still_seconds")
        return self.at if seconds is None else self.at - timedelta(seconds=seconds)


def state_values(scan: PastScan) -> Iterator[Values]:
    """A state's code; NaN is UNKNOWN, or before the first evaluation. Since when is told where the change was in the
    range; what a reset from here led to is suppressed."""
    grid = scan.grid
    return sampled(spans_of(list(_state_spans(scan.groups, grid))), grid, known=evaluated_moments(grid))


def _state_spans(places: Mapping[int, int], grid: Grid) -> Iterator[tuple[object, ...]]:
    end = grid.last_us + 1
    changes: dict[int, list[Change]] = {}
    # Those after the range as well: the first tells what was before it.
    for change in changes_of(places, grid.since):
        changes.setdefault(change.group_id, []).append(change)
    newest = {
        group: values for group, *values in GroupState.objects.order_by().values_list("group_id", "state", "rule")
    }
    by_resets = led_to_by_resets([change for own in changes.values() for change in own])
    lost_before = _lost_before([own[0] for own in changes.values()])
    for group, place in places.items():
        own = changes.get(group, [])
        begins = [*(min(end, microseconds(change.at)) for change in own), end]
        first = _code(own[0].before, "") if own else _code(*newest.get(group, (None, "")))
        yield place, grid.first_us, begins[0], np.nan if group in lost_before else first, np.nan, False
        for change, (begin, following) in zip(own, pairwise(begins), strict=True):
            since = microseconds(change.since)
            yield place, begin, following, _code(change.after, change.rule), since, change.pk in by_resets


def _code(state: str | None, rule: str) -> float:
    """Lost offsets are the incident of their broker: to rules of groups the state is unknown."""
    is_lost = state == State.LOSS and rule == RuleCode.OFFSET_LOST
    return np.nan if state is None or state == State.UNKNOWN or is_lost else CODES[State(state)]


def _lost_before(firsts: Sequence[Change]) -> set[int]:
    """Groups that lost offsets before the first of their changes. One query, none where no state was LOSS."""
    wanted = {change.group_id: change.at for change in firsts if change.before == State.LOSS}
    rules: dict[int, str] = {}
    if wanted:
        found = StateChange.objects.filter(after=State.LOSS, at__lt=max(wanted.values())).order_by("at")
        for group, at, rule in found.values_list("group_id", "at", "rule").iterator():
            if group in wanted and at < wanted[group]:
                rules[group] = rule
    return {group for group, rule in rules.items() if rule == RuleCode.OFFSET_LOST}


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
        caused = causes(looked_up[begin : begin + LOOKED_UP_AT_ONCE])
        found |= {jumps[jump] for jump, cause in caused.items() if "reset" in cause}
    return found


def _jump(change: Change) -> Jump | None:
    if change.rule not in RULES:
        return None
    topic, broker, queue_id = (change.detail.get(name) for name in ("topic", "broker", "queue_id"))
    if topic is None or broker is None or queue_id is None:
        return None
    return Jump(change.group_id, topic, broker, queue_id, change.rule, change.since, change.at)


class _Bounds(NamedTuple):
    """What is counted over an hour is a lower bound while a part of that hour was not watched."""

    places: Mapping[int, int]
    grid: Grid
    unwatched: Mapping[int, Sequence[Span]]

    @classmethod
    def of(cls, places: Mapping[int, int], grid: Grid) -> "_Bounds":
        return cls(places, grid, unwatched_spans(places, grid.since - HOUR, grid.until))

    def values(self, group: int, found: np.ndarray) -> Values:
        spans = [(microseconds(begin), microseconds(end + HOUR)) for begin, end in self.unwatched.get(group, ())]
        from_us, to_us = np.array(spans, np.int64).reshape(-1, 2).T
        is_bound = self.grid.within(from_us, to_us)
        return Values(np.array([self.places[group]]), found[None, :], is_bound=is_bound[None, :])


def rebalance_values(places: Mapping[int, int], grid: Grid, judged: np.ndarray) -> Iterator[Values]:
    """How many episodes had a rebalance begin within the hour before.

    Nobody can say of groups whose members were never asked for that they were not rebalanced.
    """
    bounds = _Bounds.of(places, grid)
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
        yield bounds.values(group, np.where(judged, found, np.nan))


def repeat_values(places: Mapping[int, int], grid: Grid, judged: np.ndarray, *, messages: bool) -> Iterator[Values]:
    """How many repeats an hour had, or how many messages they had redelivered at least; as rules count them."""
    bounds = _Bounds.of(places, grid)
    rows = RepeatEvent.objects.filter(last_at__gte=grid.since - HOUR, started_at__lt=grid.until)
    rows = rows if messages else rows.filter(confidence__in=SURE)
    of_group: dict[int, list[tuple[int, int, int]]] = {}
    for group, begun, last, low in rows.values_list("group_id", "started_at", "last_at", "redelivered_low"):
        span = (microseconds(begun), microseconds(last + HOUR), (low or 0) if messages else 1)
        of_group.setdefault(group, []).append(span)
    asked = ConsumerGroup.objects.filter(membership_at__isnull=False).values_list("pk", flat=True)
    for group in (group for group in asked if group in places):
        from_us, to_us, weight = np.array(of_group.get(group, []), np.int64).reshape(-1, 3).T
        event, at = moments_in(from_us, to_us, grid)
        found = np.bincount(at, weights=weight[event], minlength=grid.count).astype(float)
        yield bounds.values(group, np.where(judged, found, np.nan))


Seen = Iterator[tuple[Key, datetime, bool | None]]
OF_SITE: Key = ("", "")


def age_values(
    seen: Seen, places: Mapping[Key, int], grid: Grid, holds_for: timedelta, *, is_asked: bool = False
) -> Iterator[Values]:
    """Seconds since it was last well, and since_us, when that was; not before it first was. And suppressed: it is no
    older than the site's own intervals make it.

    `seen`: what was asked when, and whether it was well, in order of time; null where nobody could be asked.
    `places` by cluster and broker; of the site both are empty. `holds_for`: so long after a reading its cluster is
    being read, and after a judgement the site is being judged. `is_asked`: while a cluster is not being read nobody
    asks, so that the age is not known.
    """
    width = holds_for // MICROSECOND
    well: dict[Key, list[list[int]]] = {key: [] for key in places}
    asked: dict[str, list[int]] = {}
    nobody_asked: dict[str, list[int]] = {}
    for key, at, is_well in seen:
        moment = microseconds(at)
        if is_well is None:
            nobody_asked.setdefault(key[0], []).append(moment)
            continue
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
        held, ends = (np.array(times.get(key[0], []), np.int64) for times in (asked, nobody_asked))
        known = grid.within(held, until_next(ends, held, width)) if is_asked else np.ones(grid.count, bool)
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
    """And the site, which was read when any cluster was."""
    for cluster, at, _, _ in _readings(grid):
        yield (cluster, ""), at, True
        yield OF_SITE, at, True


def scrape_ages(scan: PastScan) -> Iterator[Values]:
    """Of clusters and of the site. While no cluster is read, that is told of the site alone."""
    grid, holds_for = scan.grid, scan.retention.reading
    (whole,) = age_values(clusters_seen(grid), {OF_SITE: 0}, grid, holds_for)
    of_site, is_polled = scan.places.get(OF_SITE), whole.is_suppressed
    assert is_polled is not None
    if of_site is not None:
        yield replace(whole, places=np.array([of_site]))
    clusters = {key: place for key, place in scan.places.items() if key != OF_SITE}
    for values in age_values(clusters_seen(grid), clusters, grid, holds_for):
        yield replace(values, value=np.where(is_polled, values.value, np.nan))


def name_servers_seen(grid: Grid) -> Seen:
    for cluster, at, _, error in _readings(grid):
        yield (cluster, ""), at, error is None


def brokers_seen(grid: Grid) -> Seen:
    for cluster, at, brokers, error in _readings(grid):
        if error is not None and all(one["error"] == error for one in brokers):
            # Nothing of the cluster was read: that is told of the cluster.
            yield (cluster, ""), at, None
        else:
            yield from (((cluster, one["name"]), at, bool(one["read"])) for one in brokers)


def _readings(grid: Grid) -> Iterator[tuple[str, datetime, list[dict[str, Any]], str | None]]:
    rows = Reading.objects.filter(taken_at__lte=grid.until).order_by("taken_at")
    return rows.values_list("cluster__name", "taken_at", "brokers", "error").iterator()
