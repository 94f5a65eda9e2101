"""Moments at which a preview looks, and values of subjects at them: a row a subject, a column a moment.

What lies between two moments is not seen. Few subjects are held at once, however many there are.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from enum import Enum, auto
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from consumers.lake.schemas import TEXT
from consumers.lake.store import Lake
from consumers.models import ConsumerGroup, PipelineRun
from consumers.pipeline.slices import floor
from consumers.vocabulary.times import MICROSECOND, microseconds

STEPS = (60, 600, 3600)
# Past so many values the next wider windows are taken: each is read out of the database, a million in a second.
VALUES_AT_MOST = 1_500_000
DAY = timedelta(days=1)
DAY_US = 86_400_000_000


@dataclass(frozen=True)
class Grid:
    """`since` and `until` are whole steps."""

    since: datetime
    until: datetime
    step_seconds: int

    @classmethod
    def of(cls, since: datetime, until: datetime, step_seconds: int) -> "Grid":
        """The whole steps of [since, until)."""
        step = timedelta(seconds=step_seconds)
        return cls(floor(since + step - MICROSECOND, step), floor(until, step), step_seconds)

    @property
    def step(self) -> timedelta:
        return timedelta(seconds=self.step_seconds)

    @property
    def count(self) -> int:
        return max(0, (self.until - self.since) // self.step)

    @property
    def step_us(self) -> int:
        return self.step_seconds * 1_000_000

    @property
    def first_us(self) -> int:
        return microseconds(self.since) + self.step_us

    @property
    def last_us(self) -> int:
        return microseconds(self.until)

    @cached_property
    def at_us(self) -> np.ndarray:
        """Its moments, in microseconds since 1970 and in order."""
        return self.first_us + self.step_us * np.arange(self.count)

    def numbers(self, at_us: np.ndarray) -> np.ndarray:
        """Of each time the number of its first moment that is not before it: `count` where there is none."""
        return np.clip(-((self.first_us - at_us) // self.step_us), 0, self.count)

    def within(self, from_us: np.ndarray, to_us: np.ndarray) -> np.ndarray:
        """Whether each moment lies in any [from, to)."""
        begun = np.bincount(self.numbers(from_us), minlength=self.count + 1)
        ended = np.bincount(self.numbers(to_us), minlength=self.count + 1)
        return np.cumsum(begun - ended)[: self.count] > 0

    def moments_from(self, at: datetime) -> int:
        """How many of its moments are later than `at`."""
        return self.moments_between(at + MICROSECOND, self.until + MICROSECOND)

    def moments_between(self, begin: datetime, end: datetime) -> int:
        """How many of its moments lie in [begin, end)."""
        return max(0, self._moments_before(end) - self._moments_before(begin))

    def _moments_before(self, at: datetime) -> int:
        return min(max(0, -((self.since - at) // self.step) - 1), self.count)

    def reaching_back(self, steps: int) -> "Grid":
        """With so many moments more before the first."""
        return Grid(self.since - steps * self.step, self.until, self.step_seconds)

    @property
    def days(self) -> list[datetime]:
        """The beginnings, in UTC, of every day that has a moment."""
        if not self.count:
            return []
        first, last = (self.since + self.step).date(), self.until.date()
        return [datetime.combine(first, time(), UTC) + number * DAY for number in range((last - first).days + 1)]


def step_for(subjects: int, since: datetime, until: datetime, finest_seconds: int) -> int:
    """The narrowest windows, `finest_seconds` or wider, of which not too many are needed."""
    seconds = (until - since).total_seconds()
    fitting = [step for step in STEPS if step >= finest_seconds and subjects * seconds / step <= VALUES_AT_MOST]
    return fitting[0] if fitting else STEPS[-1]


# A time in which a value is as it is: those of one subject do not overlap.
SPAN = np.dtype(
    [("place", "i8"), ("from_us", "i8"), ("to_us", "i8"), ("value", "f8"), ("since_us", "f8"), ("is_suppressed", "?")]
)
PLACES = pa.schema([("cluster", TEXT), ("group", TEXT), ("place", pa.int64())])
ValueAt = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Past:
    """Where stored history is read. `go_on` raises where it is not to be read on: it is called between two pieces."""

    lake: Lake
    go_on: Callable[[], None]


@dataclass(frozen=True)
class Retention:
    """How long tables of the lake are retained; how long a judgement, a reading, and an answer about members hold.
    `silence`: for how long a broker may be unread before states on it are unknown.
    """

    tables: Mapping[str, timedelta]
    judgement: timedelta
    reading: timedelta
    membership: timedelta
    silence: timedelta


@dataclass(frozen=True)
class Values:
    """`places`: the subject of each row, in order. NaN is unknown. `is_suppressed`: the rule excluded it then.
    `is_bound`: the value is the best that is possible. It passes a condition, and never fails one.
    """

    places: np.ndarray
    value: np.ndarray
    since_us: np.ndarray | None = None
    is_suppressed: np.ndarray | None = None
    is_bound: np.ndarray | None = None


def judged_moments(grid: Grid, holds_for: timedelta) -> np.ndarray:
    """For which moments of the grid a judgement held: one holds for so long, and from the end of its run on."""
    found = good_runs(grid).filter(until__gt=grid.since - holds_for).values_list("until", "finished_at")
    times = [(microseconds(done), microseconds(until + holds_for)) for until, done in found.iterator()]
    from_us, to_us = np.array(times, np.int64).reshape(-1, 2).T
    return grid.within(from_us, np.maximum(from_us, to_us))


def good_runs(grid: Grid) -> Any:
    return PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=grid.until)


@dataclass(frozen=True)
class PastScan:
    """What one preview reads. `groups`: places by group id; `places`: by cluster and broker, empty where a subject has
    none; `topic` is empty where a rule names none."""

    groups: Mapping[int, int]
    places: Mapping[tuple[str, str], int]
    topic: str
    grid: Grid
    past: Past
    retention: Retention

    @property
    def judged_moments(self) -> np.ndarray:
        """For which moments of the grid an evaluation held."""
        return judged_moments(self.grid, self.retention.judgement)


class Need(Enum):
    """What an evaluation must have known of a group at a moment, or the value was unknown to it: known_times.py."""

    SCRAPED = auto()  # every broker with queues of the group answers
    HEARD = auto()  # brokers with queues of the group are not silent, as far as its state needs them
    DISPATCHED = auto()  # none of these brokers is behind with its dispatch
    DISPATCHED_OR_BOUND = auto()  # or the value is a lower bound
    MEMBERS = auto()  # every broker told who the members are
    EVALUATED = auto()  # an evaluation is valid
    EVALUATED_UNLESS_ZERO = auto()  # the same, except where nothing lags


@dataclass(frozen=True, kw_only=True)
class PastSource:
    """Where the values of the past are read from.

    `table`: the table of the lake that rows of it are retained as long as. `read`, and `read_topic` of groups' parts of
    a topic: what was found, for subjects of which anything was. `is_windowed`: wider windows may be taken. `needs`:
    without one of these a value that was found later was unknown at its moment.
    """

    table: str
    read: Callable[[PastScan], Iterator[Values]]
    read_topic: Callable[[PastScan], Iterator[Values]] | None = None
    is_windowed: bool = False
    needs: frozenset[Need] = frozenset()


def batches(places: Mapping[int, int], grid: Grid, at_once: int = VALUES_AT_MOST) -> Iterator[dict[int, int]]:
    """Yields groups in the order of their ids, as many at once as their values fit into the limit."""
    ordered = iter(sorted(places.items()))
    size = max(1, at_once // max(1, grid.count))
    while some := dict(islice(ordered, size)):
        yield some


def named_groups(places: Mapping[int, int]) -> pa.Table:
    """cluster, group, place. `places` by group id."""
    found = ConsumerGroup.objects.order_by().values_list("cluster__name", "name", "pk").iterator()
    rows = [dict(zip(PLACES.names, (*names, places[pk]), strict=True)) for *names, pk in found if pk in places]
    return pa.Table.from_pylist(rows, PLACES)


def spans_of(rows: Sequence[tuple[object, ...]]) -> np.ndarray:
    """Of `rows` as SPAN names them."""
    return np.array(rows, SPAN)


def sampled(
    spans: np.ndarray, grid: Grid, *, value_at: ValueAt | None = None, known: np.ndarray | None = None
) -> Iterator[Values]:
    """Of each span its value at the moments in [from, to), or what `value_at` makes of the span and the moment.

    `known`: whether anything is known at each moment of the grid.
    """
    spans = spans[np.argsort(spans["place"], kind="stable")]
    places, firsts = np.unique(spans["place"], return_index=True)
    ends = np.append(firsts, len(spans))
    size = max(1, VALUES_AT_MOST // 2 // max(1, grid.count))
    for begin in range(0, len(places), size):
        some = places[begin : begin + size]
        yield _sampled(spans[ends[begin] : ends[begin + len(some)]], some, grid, value_at, known)


def _sampled(
    spans: np.ndarray, places: np.ndarray, grid: Grid, value_at: ValueAt | None, known: np.ndarray | None
) -> Values:
    span, column = moments_in(spans["from_us"], spans["to_us"], grid)
    if known is not None:
        is_known = known[column]
        span, column = span[is_known], column[is_known]
    cell = np.searchsorted(places, spans["place"])[span] * grid.count + column
    shape = (len(places), grid.count)
    value, since, suppressed = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape, bool)
    value.flat[cell] = spans["value"][span] if value_at is None else value_at(spans[span], grid.at_us[column])
    since.flat[cell] = spans["since_us"][span]
    suppressed.flat[cell] = spans["is_suppressed"][span]
    return Values(places, value, since, suppressed)


def until_next(ends_us: np.ndarray, from_us: np.ndarray, width_us: int) -> np.ndarray:
    """Until when each of `from_us` counts: as old as `width_us` it does, but not from the next of `ends_us` on."""
    ends = np.append(ends_us, np.iinfo(np.int64).max)
    return np.minimum(from_us + width_us + 1, ends[np.searchsorted(ends, from_us)])


def moments_in(from_us: np.ndarray, to_us: np.ndarray, grid: Grid) -> tuple[np.ndarray, np.ndarray]:
    """The number of the span, and of the moment, of every moment of the grid in each [from, to)."""
    begin = grid.numbers(from_us)
    lengths = np.maximum(grid.numbers(to_us) - begin, 0)
    span = np.repeat(np.arange(len(lengths)), lengths)
    before = np.cumsum(lengths) - lengths
    return span, np.arange(len(span)) + (begin - before)[span]
