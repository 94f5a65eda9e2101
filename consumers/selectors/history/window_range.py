"""The windows of a stretch of time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

from django.conf import settings

from consumers.pipeline.upkeep import STEPS, kept_for
from consumers.stores.spans import exact_span

HOURS_IN_MINUTES = timedelta(hours=6)
DAYS_IN_TEN_MINUTES = timedelta(days=7)
DAYS_IN_HOURS = timedelta(days=92)
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


class TooManyPoints(RangeError):
    """str() is one sentence, with what would fit."""


def window_range(
    since: datetime,
    until: datetime,
    step_seconds: int | None = None,
    *,
    queues: int = 1,
    now: datetime | None = None,
) -> WindowRange:
    """Raises RangeError where the range is empty, or has more windows, of so many queues, than HISTORY_POINTS.

    Without a step: the shortest that is usual for such a length, fits, and is kept at `now` since the range begins."""
    if since >= until:
        raise RangeError("The range is empty: 'from' must be before 'to'.")
    if step_seconds is None:
        usual = max(step_for(until - since), finest_kept(since, now or until))
        longer = [step for step in STEPS if step >= usual]
        step_seconds = next((step for step in longer if _points(since, until, step, queues) <= _most()), longer[-1])
    if step_seconds not in STEPS:
        raise RangeError(f"The step must be one of {', '.join(map(str, STEPS))} seconds, not {step_seconds}.")
    first, count = _windows(since, until, step_seconds)
    if count > MOST_WINDOWS:
        raise RangeError(
            f"The range has {count:,} windows of {step_seconds} s; the most is {MOST_WINDOWS:,}. Take a longer step."
        )
    windows = WindowRange(datetime.fromtimestamp(first * step_seconds, UTC), step_seconds, count)
    refuse_too_many(windows, queues)
    return windows


def refuse_too_many(windows: WindowRange, queues: int) -> None:
    """Raises TooManyPoints where so many queues have more points over these windows than are answered at once."""
    points, most = queues * windows.count, _most()
    if points <= most:
        return
    fits = []
    for step in STEPS:
        if step > windows.step_seconds and queues * -(-windows.count * windows.step_seconds // step) <= most:
            fits.append(f"take a step of {step} s")
            break
    if most // queues:
        fits.append(f"ask for {exact_span(most // queues * windows.step_seconds)} at most")
    if most // windows.count and queues > 1:
        fits.append(f"name {most // windows.count:,} queues or fewer")
    said = f"{queues:,} queues × {windows.count:,} windows of {windows.step_seconds} s are {points:,} points"
    raise TooManyPoints(f"{said}, and the most is {most:,} (HISTORY_POINTS): {', or '.join(fits)}.")


def _most() -> int:
    most: int = settings.HISTORY_POINTS
    return most


def _windows(since: datetime, until: datetime, step: int) -> tuple[int, int]:
    """The number of the first one since 1970, and how many there are."""
    first = int(since.timestamp() // step)
    return first, -int(-until.timestamp() // step) - first


def _points(since: datetime, until: datetime, step: int, queues: int) -> int:
    return _windows(since, until, step)[1] * queues


def step_for(length: timedelta) -> int:
    if length <= HOURS_IN_MINUTES:
        return 60
    if length <= DAYS_IN_TEN_MINUTES:
        return 600
    return 3600 if length <= DAYS_IN_HOURS else 86400


def finest_kept(at: datetime, now: datetime) -> int:
    """The step of the finest windows of that time that are kept still; where none are, the widest."""
    return next((step for step in STEPS if at >= now - kept_long(step)), STEPS[-1])


def kept_long(step_seconds: int) -> timedelta:
    return kept_for()[f"windows_{step_seconds}"]
