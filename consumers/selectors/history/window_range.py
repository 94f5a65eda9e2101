"""The windows of a stretch of time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

STEPS = (60, 600, 3600)
HOURS_IN_MINUTES = timedelta(hours=6)
DAYS_IN_TEN_MINUTES = timedelta(days=7)
MOST_WINDOWS = 11_000
# The windows that the pipeline has not come to yet: one that is open, and one that closed while it ran.
OPEN_WINDOWS = 2


class RangeError(ValueError):
    """A range or step that no history can be shown for."""


@dataclass(frozen=True)
class WindowRange:
    """Windows of `step_seconds` from `start` (a multiple of the step since 1970) on; the last one holds `until`."""

    start: datetime
    step_seconds: int
    count: int

    @property
    def until(self) -> datetime:
        return self.start + timedelta(seconds=self.step_seconds * self.count)

    @cached_property
    def starts(self) -> list[datetime]:
        return [self.start + timedelta(seconds=self.step_seconds * number) for number in range(self.count)]

    def index(self, at: datetime) -> int:
        return int((at - self.start).total_seconds() // self.step_seconds)

    def complete_until(self, done: datetime | None, known: Iterable[int] = ()) -> int:
        """How many windows were aggregated to their end: by a pipeline that is `done` up to then, and all before the
        newest of the `known` ones, as the pipeline goes through time in order."""
        ended = 0 if done is None else min(max(self.index(done), 0), self.count)
        return max(ended, max(known, default=0))


def window_range(since: datetime, until: datetime, step_seconds: int | None = None) -> WindowRange:
    """Raises RangeError where the range is empty, or has more windows than anyone can look at."""
    if since >= until:
        raise RangeError("The range is empty: 'from' must be before 'to'.")
    step = step_seconds or step_for(until - since)
    if step not in STEPS:
        raise RangeError(f"The step must be one of {', '.join(map(str, STEPS))} seconds, not {step}.")
    first = int(since.timestamp() // step)
    count = -int(-until.timestamp() // step) - first
    if count > MOST_WINDOWS:
        raise RangeError(
            f"The range has {count:,} windows of {step} s; the most is {MOST_WINDOWS:,}. Take a longer step."
        )
    return WindowRange(datetime.fromtimestamp(first * step, UTC), step, count)


def step_for(length: timedelta) -> int:
    if length <= HOURS_IN_MINUTES:
        return 60
    return 600 if length <= DAYS_IN_TEN_MINUTES else 3600
