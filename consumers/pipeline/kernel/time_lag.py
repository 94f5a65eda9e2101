"""Time lag: how long ago the first unconsumed message was stored. Exact where the broker was asked for its store time;
its clock and this host's may differ a little. Else from the produced history.

Message g was stored between two knots of it (knots.py). Where the knots begin later than that, the lag is at least the
age of the oldest knot. Never an extrapolation: a rate that held once says nothing of an unseen hour.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np
import pyarrow as pa

from consumers.pipeline.durations import Durations

from .anchors import Anchored, new_anchors
from .columns import TOPIC_QUEUE, Texts, numbers
from .knots import Brackets, Knots
from .readings import Gathered
from .segments import MINUTE_US, Segments, seconds

EXACT, INTERPOLATED, AT_LEAST, UNKNOWN = KINDS = ("exact", "interpolated", "at_least", "unknown")
KNOWN_KINDS = (EXACT, INTERPOLATED)
KnotsOf = Callable[[pa.Table], pa.Table]


class KnotsWithin(Protocol):
    def __call__(self, asked: pa.Table, *, since_us: float, until_us: float) -> pa.Table: ...


@dataclass(frozen=True)
class History:
    """Knots of some topics, as tables of cluster, topic, broker, queue_id, broker_offset and at. `newest`: knots since
    times further and further back; `all`: every knot that is retained; `within`: knots of a span of time without a gap.
    `is_longer`: whether more is retained than `newest` has."""

    newest: Sequence[KnotsOf]
    all: KnotsOf
    within: KnotsWithin
    is_longer: Callable[[], bool] = lambda: True

    def lookups(self) -> Iterator[KnotsOf]:
        """The newest first."""
        yield from self.newest
        if self.is_longer():
            yield self.all


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
    """Returns the time lags of readings with lag from `since` on, and the anchors for the next run. A message that the
    queue's own readings do not reach is looked up in `anchors`, then in the near history, then in all history."""
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
    """All readings of a queue by the same part of history: what follows on one of them follows on the others."""
    queue = gathered.readings.segments.queue[rows]

    def looked_up(chosen: np.ndarray, knots_of: KnotsOf) -> Brackets:
        def knots(queues: np.ndarray) -> Knots:
            named = gathered.queues.select(TOPIC_QUEUE).take(pa.array(queues))
            return Knots.of(knots_of(named), named)

        return _looked_up(gathered, rows[chosen], knots)

    brackets = anchored.brackets
    for chosen, since_us, until_us in anchored.spans():
        fresh = looked_up(chosen, partial(history.within, since_us=since_us, until_us=until_us))
        # Knots of a part of history prove nothing of what lies before and behind it.
        is_found = fresh.is_closed | (fresh.is_lasting & anchored.is_oldest[chosen])
        brackets = brackets.replaced(chosen[is_found], fresh.only(is_found))
    chosen = np.flatnonzero(np.isin(queue, queue[~brackets.is_lasting]))
    # What is looked up next is only asked for once something is missing.
    lookups = history.lookups()
    while len(chosen) and (knots_of := next(lookups, None)):
        fresh = looked_up(chosen, knots_of)
        brackets = brackets.replaced(chosen, fresh)
        chosen = chosen[np.isin(queue[chosen], queue[chosen][np.isnan(fresh.left_at)])]
    return brackets


def _looked_up(gathered: Gathered, rows: np.ndarray, knots_of: "Callable[[np.ndarray], Knots]") -> Brackets:
    """`knots_of`: of queues by their numbers, rising."""
    queues, point_queue = np.unique(gathered.readings.segments.queue[rows], return_inverse=True)
    return knots_of(queues).brackets(
        point_queue, gathered.readings.at_us[rows], gathered.readings.consumer_offset[rows]
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
