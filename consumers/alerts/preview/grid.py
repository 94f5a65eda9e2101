"""The moments at which a preview looks: the ends of windows of one width. What lies between two of them is not seen."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cached_property

import numpy as np

from consumers.pipeline.slices import EPOCH, floor, microseconds

STEPS = (60, 600, 3600)
# Past so many values the next wider windows are taken: each is read out of the database, a million in a second.
VALUES_AT_MOST = 1_500_000
MICROSECOND = timedelta(microseconds=1)
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


def moment(micros: float) -> datetime:
    return EPOCH + timedelta(microseconds=int(micros))


def step_for(subjects: int, since: datetime, until: datetime, finest_seconds: int) -> int:
    """The narrowest windows, `finest_seconds` or wider, of which not too many are needed."""
    seconds = (until - since).total_seconds()
    fitting = [step for step in STEPS if step >= finest_seconds and subjects * seconds / step <= VALUES_AT_MOST]
    return fitting[0] if fitting else STEPS[-1]
