"""Time lag: how long ago the first unconsumed message was stored. Exact where the broker was asked for its store time;
its clock and this host's may differ a little. Else from the produced history.

Message g was stored while the broker offset passed from at most g to above g: between the last knot that does not
exceed g (the right end of a flat run) and the next one. Where the knots begin later than that, the lag is at least the
age of the oldest knot. Never an extrapolation: a rate that held once says nothing of an unseen hour.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np
import pyarrow as pa

from consumers.lake.schemas import NO_TOPIC
from consumers.pipeline.durations import Durations

from .anchors import Anchored, Brackets, new_anchors
from .columns import TOPIC_QUEUE, Texts, numbers, shared_numbers
from .readings import Gathered, Readings
from .segments import MINUTE_US, Segments, at_rows, seconds

EXACT, INTERPOLATED, AT_LEAST, UNKNOWN = KINDS = ("exact", "interpolated", "at_least", "unknown")
KNOWN_KINDS = (EXACT, INTERPOLATED)
KnotsOf = Callable[[pa.Table], pa.Table]


class KnotsWithin(Protocol):
    def __call__(self, asked: pa.Table, *, since_us: float, until_us: float) -> pa.Table: ...


@dataclass(frozen=True)
class History:
    """Which knots there are of some topics: cluster, topic, broker, queue_id, broker_offset, at. Of the last hours, of
    all that is kept, and of a span of time without a gap. `is_longer`: more is kept than the last hours."""

    near: KnotsOf
    far: KnotsOf
    within: KnotsWithin
    is_longer: Callable[[], bool] = lambda: True

    def lookups(self) -> Iterator[KnotsOf]:
        """The newest first."""
        yield self.near
        if self.is_longer():
            yield self.far


@dataclass(frozen=True)
class TimeLags:
    """The time lags of the readings that are behind, one row each. NaN where it is not known."""

    segments: Segments
    at_us: np.ndarray
    seconds: np.ndarray
    error_seconds: np.ndarray
    kind: Texts

    @classmethod
    def of(cls, lists: pa.ListArray) -> "TimeLags":
        """`lists`: of each queue its time lags, with the fields of readings_schema.LAGS."""
        rows = lists.flatten()
        found = {name: numbers(rows.field(name)) for name in ("at_us", "seconds", "error_seconds")}
        return cls(Segments.of_lists(lists), **found, kind=Texts.of(rows.field("kind")))

    @classmethod
    def none(cls, queues: int) -> "TimeLags":
        """Of so many queues, none of which is behind."""
        nothing = np.empty(0)
        return cls(Segments.of_lengths(np.zeros(queues, np.int64)), nothing, nothing, nothing, Texts.none(0))

    @property
    def is_known(self) -> np.ndarray:
        return self.kind.is_in(KNOWN_KINDS) & ~np.isnan(self.seconds)

    def only(self, chosen: np.ndarray) -> "TimeLags":
        """Of the chosen queues alone."""
        return self._kept(self.segments.spread(chosen), np.diff(self.segments.starts)[chosen])

    def since(self, at_us: float) -> "TimeLags":
        """Without older ones."""
        rows = self.at_us >= at_us
        return self._kept(rows, self.segments.count_of(rows))

    def of_lives_since(self, began_us: np.ndarray) -> "TimeLags":
        """Without those of before each queue's life began; NaN: it had no other."""
        rows = ~(self.at_us < self.segments.spread(began_us))
        return self if rows.all() else self._kept(rows, self.segments.count_of(rows))

    def _kept(self, rows: np.ndarray, lengths: np.ndarray) -> "TimeLags":
        """`lengths`: how many of the rows each queue that is kept has."""
        at_us, age, error = self.at_us[rows], self.seconds[rows], self.error_seconds[rows]
        return TimeLags(Segments.of_lengths(lengths), at_us, age, error, self.kind.kept(rows))


def time_lags(
    gathered: Gathered, since_us: float, history: History, durations: Durations, anchors: pa.Table
) -> tuple[TimeLags, pa.Table]:
    """Of the readings from `since` on that are behind, and the anchors that they leave. What the queue's own readings
    do not reach is looked up by `anchors`, then in the near history, and what that does not reach in all of it."""
    readings = gathered.readings
    is_behind = ~readings.reason.is_known & (readings.at_us >= since_us)
    is_behind &= readings.broker_offset > readings.consumer_offset
    rows = np.flatnonzero(is_behind)
    own = _looked_up(gathered, rows, lambda queues: Knots.of_readings(readings, queues))
    found = _between(gathered, rows, own, durations)
    reaches_back = np.flatnonzero(~found.is_known | _is_beyond(found, durations))
    asked = rows[reaches_back]
    brackets = _bracketed(gathered, asked, history, Anchored.of(anchors, gathered, asked))
    found = _replaced(found, reaches_back, _between(gathered, asked, brackets, durations))
    found = replace(found, segments=Segments.of_lengths(readings.segments.count_of(is_behind)))
    return found, new_anchors(gathered, asked, brackets)


def _bracketed(gathered: Gathered, rows: np.ndarray, history: History, anchored: Anchored) -> Brackets:
    def looked_up(chosen: np.ndarray, knots_of: KnotsOf) -> Brackets:
        def knots(queues: np.ndarray) -> Knots:
            named = gathered.queues.select(TOPIC_QUEUE).take(pa.array(queues))
            return Knots.of(knots_of(named), named)

        return _looked_up(gathered, rows[chosen], knots)

    brackets = anchored.brackets
    for chosen, since_us, until_us in anchored.spans():
        fresh = looked_up(chosen, partial(history.within, since_us=since_us, until_us=until_us))
        # Knots of a part of history prove nothing of what lies before and behind it.
        brackets = brackets.replaced(chosen[fresh.is_closed], fresh.only(fresh.is_closed))
    chosen = np.flatnonzero(~brackets.is_lasting)
    # What is looked up next is only asked for once something is missing.
    lookups = history.lookups()
    while len(chosen) and (knots_of := next(lookups, None)):
        fresh = looked_up(chosen, knots_of)
        brackets = brackets.replaced(chosen, fresh)
        chosen = chosen[np.isnan(fresh.left_at)]
    return brackets


def _looked_up(gathered: Gathered, rows: np.ndarray, knots_of: "Callable[[np.ndarray], Knots]") -> Brackets:
    """`knots_of`: of queues by their numbers, rising."""
    queues, point_queue = np.unique(gathered.readings.segments.queue[rows], return_inverse=True)
    knots = knots_of(queues)
    at, offset = gathered.readings.at_us[rows], gathered.readings.consumer_offset[rows]
    start, end = knots.lived(point_queue, at)
    # Both rise along the knots of a life.
    seen = count_up_to(knots.at_us, start, end, at)
    passed = np.minimum(seen, count_up_to(knots.broker_offset, start, end, offset))
    left = np.where(passed > 0, start + passed - 1, -1)
    right = np.where(start + passed < end, start + passed, -1)
    right = np.where(at_rows(knots.at_us, right) <= at, right, -1)
    return Brackets(
        left_at=at_rows(knots.at_us, left),
        left_offset=at_rows(knots.broker_offset, left),
        right_at=at_rows(knots.at_us, right),
        right_offset=at_rows(knots.broker_offset, right),
        oldest_at=at_rows(knots.at_us, np.where(end > start, start, -1)),
    )


def _between(gathered: Gathered, rows: np.ndarray, found: Brackets, durations: Durations) -> TimeLags:
    """The time lags of readings by their brackets."""
    readings = gathered.readings
    at, offset, first = readings.at_us[rows], readings.consumer_offset[rows], gathered.first_us[rows]
    # No knot after it: the message was stored between the last knot and the reading.
    right_at = np.where(np.isnan(found.right_at), at, found.right_at)
    right_offset = np.where(np.isnan(found.right_at), readings.broker_offset[rows], found.right_offset)
    width = right_offset - found.left_offset
    share = (offset - found.left_offset) / np.where(width == 0, np.nan, width)
    stored_us = found.left_at + share * (right_at - found.left_at)
    # A store time that is not past tells of two clocks, not of a lag.
    is_exact = first < at
    is_older = np.isnan(found.left_at) & (found.oldest_at < at)
    cases = [is_exact, ~np.isnan(share), is_older]
    ages = [seconds(at - first), seconds(at - stored_us), seconds(at - found.oldest_at)]
    gap = np.fmax(durations.poll_seconds, seconds(right_at - found.left_at)) + durations.commit_interval_seconds
    return TimeLags(
        Segments.of_lengths(np.array([len(rows)])),
        at,
        np.select(cases, ages, np.nan),
        np.select(cases[:2], [np.full(len(rows), float(durations.clock_error_seconds)), gap], np.nan),
        Texts(np.select(cases, [0, 1, 2], 3).astype(np.int64), KINDS),
    )


def _is_beyond(found: TimeLags, durations: Durations) -> np.ndarray:
    """How far readings reach goes by the slice of the run. Of each minute the same counts, whatever the run covers."""
    since_minute = seconds(found.at_us % MINUTE_US)
    return (found.seconds > since_minute + durations.lookback_seconds) & ~found.kind.is_in([EXACT])


def _replaced(found: TimeLags, rows: np.ndarray, others: TimeLags) -> TimeLags:
    """With the others in these rows."""
    age, error, kind = found.seconds.copy(), found.error_seconds.copy(), found.kind.codes.copy()
    age[rows], error[rows], kind[rows] = others.seconds, others.error_seconds, others.kind.codes
    return replace(found, seconds=age, error_seconds=error, kind=Texts(kind, KINDS))


@dataclass(frozen=True)
class Knots:
    """Of each asked topic queue its lives, `first_life[q]` to `end_life[q]`; of each life when it began, and its knots,
    `starts[life]` to `starts[life + 1]`. A life ends where the broker offset goes back, and where the topic was gone:
    so both columns rise within one."""

    first_life: np.ndarray
    end_life: np.ndarray
    began_us: np.ndarray
    starts: np.ndarray
    at_us: np.ndarray
    broker_offset: np.ndarray

    @classmethod
    def of(cls, table: pa.Table, asked: pa.Table) -> "Knots":
        """`asked`: rows of a topic queue, one of which may be there several times: groups share a topic."""
        mine, theirs = shared_numbers([asked, table], TOPIC_QUEUE)
        at, offset = numbers(table["at"]), numbers(table["broker_offset"])
        wanted = np.isin(theirs, mine)
        theirs, at, offset = theirs[wanted], at[wanted], offset[wanted]
        order = np.lexsort((offset, at, theirs))
        theirs, at, offset = theirs[order], at[order], offset[order]
        # A mark that is the last of its queue marks the next queue's first knot, which begins a life anyway.
        is_mark = offset == NO_TOPIC
        is_anew = np.append(False, is_mark[:-1])[~is_mark] if len(offset) else is_mark
        return cls._of_sorted(theirs[~is_mark], at[~is_mark], offset[~is_mark], is_anew, mine)

    @classmethod
    def of_readings(cls, readings: Readings, queues: np.ndarray) -> "Knots":
        """What the queues' own readings saw of their broker offsets. `queues`: their numbers, rising."""
        asked = np.zeros(readings.segments.count, bool)
        asked[queues] = True
        rows = np.flatnonzero(readings.segments.spread(asked) & readings.is_seen)
        queue, at, offset = readings.segments.queue[rows], readings.at_us[rows], readings.broker_offset[rows]
        return cls._of_sorted(queue, at, offset, readings.begins[rows], queues)

    @classmethod
    def _of_sorted(
        cls, queue: np.ndarray, at_us: np.ndarray, offset: np.ndarray, is_anew: np.ndarray, asked: np.ndarray
    ) -> "Knots":
        """Rows by queue and time. `is_anew`: the topic was gone before. `asked`: the number of each queue that is asked
        for."""
        begins = np.ones(len(queue), bool)
        begins[1:] = (queue[1:] != queue[:-1]) | (offset[1:] < offset[:-1]) | is_anew[1:]
        rows = np.flatnonzero(begins)
        first, end = (np.searchsorted(queue[rows], asked, side=side) for side in ("left", "right"))
        return cls(first, end, at_us[rows], np.append(rows, len(queue)), at_us, offset)

    def lived(self, queue: np.ndarray, at_us: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The knots of the life that each queue was in at that moment, from and to; none before the first."""
        first = self.first_life[queue]
        begun = count_up_to(self.began_us, first, self.end_life[queue], at_us)
        # A row beyond the last, with no knots, stands for none.
        life = np.where(begun > 0, first + begun - 1, len(self.began_us))
        bounds = np.append(self.starts, self.starts[-1])
        return bounds[life], bounds[life + 1]


def count_up_to(values: np.ndarray, start: np.ndarray, end: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """How many of values[start:end], which rise, are at most the limit: for each triple at once, by halving."""
    low, high = start.copy(), end.copy()
    while (is_open := low < high).any():
        middle = (low + high) // 2
        is_below = is_open & (values[np.minimum(middle, len(values) - 1)] <= limits)
        low = np.where(is_below, middle + 1, low)
        high = np.where(is_open & ~is_below, middle, high)
    return low - start
