"""What was read of one queue since it was written, folded: each offset that differs from the last, and when."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True)
class Change:
    """`offset` null: the queue had no commit."""

    at: datetime
    offset: int | None


@dataclass(frozen=True)
class Series:
    """`last_at`: the latest reading that the broker answered; `error`: why later ones failed.

    `broken`: it could not be read for a while, in which its broker may have been started anew.
    """

    changes: tuple[Change, ...] = ()
    last_at: datetime | None = None
    count: int = 0
    error: str | None = None
    broken: bool = False

    def read(self, at: datetime, offset: int | None) -> "Series":
        same = self.changes and self.changes[-1].offset == offset
        changes = self.changes if same else (*self.changes, Change(at, offset))
        return Series(changes, at, self.count + 1, broken=self.broken)

    def failed(self, error: str) -> "Series":
        return replace(self, error=error, broken=True)

    @property
    def last(self) -> int | None:
        return self.changes[-1].offset

    @property
    def seconds(self) -> float:
        return seconds_between(self.changes[0].at, self.last_at) if self.changes else 0.0

    @property
    def run(self) -> tuple[Change, ...]:
        """The latest changes, as far back as it never went back."""
        places = range(len(self.changes) - 1, 0, -1)
        back = (place for place in places if _went_back(self.changes[place - 1].offset, self.changes[place].offset))
        return self.changes[next(back, 0) :]

    def first(self, test: Callable[[int | None], bool]) -> Change | None:
        return next((change for change in self.changes if test(change.offset)), None)

    def held(self, test: Callable[[int | None], bool]) -> float:
        """For how many seconds, up to the last reading, `test` has been true and the offset never went back."""
        since = self.last_at
        later: int | None = None
        for change in reversed(self.changes):
            if not test(change.offset) or _went_back(change.offset, later):
                break
            since, later = change.at, change.offset
        return seconds_between(since, self.last_at)


def saved(series: Series) -> list[list[object]]:
    """As `ResetQueue.readings` keeps it."""
    return [[change.at.isoformat(), change.offset] for change in series.changes]


def restored(readings: Sequence[Sequence[object]], last_at: datetime | None) -> Series:
    """From `ResetQueue.readings` and `after_at`, by another worker than the one that read them.

    How often it was read is kept by nobody: once a change at least.
    """
    changes = tuple(Change(datetime.fromisoformat(str(at)), _offset(offset)) for at, offset in readings)
    return Series(changes, (last_at or changes[-1].at) if changes else None, len(changes), broken=bool(changes))


def seconds_between(start: datetime | None, end: datetime | None) -> float:
    return (end - start).total_seconds() if start is not None and end is not None else 0.0


def _went_back(earlier: int | None, later: int | None) -> bool:
    return earlier is not None and later is not None and later < earlier


def _offset(value: object) -> int | None:
    return None if value is None else int(str(value))
