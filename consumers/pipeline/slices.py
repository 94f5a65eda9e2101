"""A long range in pieces: arrays of readings stay short, and a run over two days costs as many small runs."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from consumers.vocabulary.times import EPOCH

MINUTE = timedelta(minutes=1)
TEN_MINUTES = timedelta(minutes=10)


def has_ended(step: timedelta, since: datetime, until: datetime) -> bool:
    """Whether a window of `step` that holds a moment of [since, until) is over at its end."""
    return floor(until, step) > floor(since, step)


def floor(at: datetime, step: timedelta) -> datetime:
    return EPOCH + (at - EPOCH) // step * step


def slices(since: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    """[since, until) cut at whole ten minutes, beginning at the whole minute of `since`."""
    start = floor(since, MINUTE)
    while start < until:
        end = min(floor(start, TEN_MINUTES) + TEN_MINUTES, until)
        yield start, end
        start = end


def minutes(since: datetime, until: datetime) -> Iterator[datetime]:
    minute = floor(since, MINUTE)
    while minute < until:
        yield minute
        minute += MINUTE
