"""Windows that repeat each week, by the clock of a time zone. Pure.

A window is open while that clock shows a time from its start on and before its end, of a day that begins on one of its
weekdays. That needs no rule of its own for daylight saving: what the clock skips is never open, what it shows twice is
open twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Any, Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY = timedelta(days=1)


class WrongWindow(ValueError):
    """`field`: which part of it is wrong; str() is its code."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


@dataclass(frozen=True)
class Weekly:
    """`days`: 0 is Monday. An end that is not after its start is of the next day; the same time is a whole day."""

    days: frozenset[int]
    start: time
    end: time
    zone: ZoneInfo

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> "Weekly":
        """Raises WrongWindow."""
        days = stored.get("days")
        if not isinstance(days, list | tuple) or not days or not set(days) <= set(DAYS):
            raise WrongWindow("days")
        chosen = frozenset(DAYS.index(day) for day in days)
        return cls(chosen, _time("start", stored), _time("end", stored), _zone(stored.get("time_zone")))

    def stored(self) -> dict[str, Any]:
        return {
            "days": [DAYS[day] for day in sorted(self.days)],
            "start": f"{self.start:%H:%M}",
            "end": f"{self.end:%H:%M}",
            "time_zone": self.zone.key,
        }

    def is_open(self, at: datetime) -> bool:
        local = at.astimezone(self.zone)
        now, today = local.time().replace(tzinfo=None), local.weekday()
        if self.start < self.end:
            return today in self.days and self.start <= now < self.end
        return (today in self.days and now >= self.start) or ((today - 1) % 7 in self.days and now < self.end)

    def occurrences(self, since: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
        """Windows between the two, in UTC; the first and the last only as far as they lie there."""
        begun: datetime | None = None
        for at in self._changes(since, until):
            if at >= until:
                break
            if self.is_open(at):
                begun = at if begun is None else begun
            elif begun is not None:
                if at > since:
                    yield max(begun, since), at
                begun = None
        if begun is not None:
            yield max(begun, since), until

    def _changes(self, since: datetime, until: datetime) -> Iterator[datetime]:
        """Every point in time at which the window may open or close, in order, from two days before on."""
        day, last = since.astimezone(self.zone).date() - 2 * DAY, until.astimezone(self.zone).date()
        while day <= last:
            yield from sorted(self._of_day(day))
            day += DAY

    def _of_day(self, day: date) -> set[datetime]:
        midnight, next_midnight = _instant(day, time(), self.zone, 0), _instant(day + DAY, time(), self.zone, 0)
        found = {midnight, *(_instant(day, at, self.zone, fold) for at in (self.start, self.end) for fold in (0, 1))}
        if midnight.astimezone(self.zone).utcoffset() != next_midnight.astimezone(self.zone).utcoffset():
            found.add(_shift(midnight, next_midnight, self.zone))
        return {at for at in found if midnight <= at < next_midnight}


class Spanned(Protocol):
    """A silence."""

    starts_at: datetime
    ends_at: datetime
    weekly: Any


def windows(silence: Spanned, since: datetime, count: int) -> list[tuple[datetime, datetime]]:
    """The next ones in which it is active; the first may have begun. One that does not repeat has one."""
    begin = max(silence.starts_at, since)
    if begin >= silence.ends_at:
        return []
    if silence.weekly is None:
        return [(silence.starts_at, silence.ends_at)]
    return list(islice(Weekly.of(silence.weekly).occurrences(begin, silence.ends_at), count))


def is_active(silence: Spanned, now: datetime) -> bool:
    within = silence.starts_at <= now < silence.ends_at
    return within and (silence.weekly is None or Weekly.of(silence.weekly).is_open(now))


def active_until(silence: Spanned, now: datetime) -> datetime:
    """The end of the window that is open, or that opens next; its own end where none does."""
    return next((end for _, end in windows(silence, now, 1)), silence.ends_at)


def _instant(day: date, at: time, zone: ZoneInfo, fold: int) -> datetime:
    return datetime.combine(day, at, zone).replace(fold=fold).astimezone(UTC)


def _shift(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """When the clock is put forward or back between the two."""
    offset = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) // 2
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return after.replace(microsecond=0)


def _time(name: str, stored: Mapping[str, Any]) -> time:
    entered = stored.get(name)
    if not isinstance(entered, str) or len(entered) != len("02:00"):
        raise WrongWindow(name)
    try:
        return time.fromisoformat(entered)
    except ValueError:
        raise WrongWindow(name) from None


def _zone(name: Any) -> ZoneInfo:
    if not isinstance(name, str) or not name:
        raise WrongWindow("time_zone")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise WrongWindow("time_zone") from None
