"""A written queue with everything that is known of it since: the input of the read-back rules."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from consumers.models import ResetMethod
from consumers.resets.planning.gather import Membership

# How a client takes an offset that the broker corrects is known of RocketMQ's own push consumers in Java alone. Where
# members pop, the broker itself goes on from there (5.4.0, PopMessageProcessor.resetPopOffset).
PUSH, POP, JAVA = "CONSUME_PASSIVELY", "CONSUME_POP", "JAVA"
# In a longer time without a look a broker may have restarted, and a member may have joined, committed and left.
LONGEST_GAP_SECONDS = 4.0


@dataclass(frozen=True)
class Present:
    """`then`: client ids as the reset was applied; `first` and `now`: at the first and at the latest look since.

    Null: not known, and of `now` `error` says why. `met_at`: the first look at which anybody was there. `first_at` and
    `last_at`: of looks that found out who was there; `watched`: no two of them in a row were too far apart.
    """

    then: frozenset[str] | None
    first: frozenset[str] | None = None
    now: frozenset[str] | None = None
    met_at: datetime | None = None
    looked: bool = False
    steady: bool = True
    lost: bool = False
    obeying: bool = True
    error: str | None = None
    first_at: datetime | None = None
    last_at: datetime | None = None
    watched: bool = True

    @classmethod
    def at_apply(cls, members: Iterable[str] | None) -> "Present":
        return cls(None if members is None else frozenset(members))

    def look(self, at: datetime, found: Membership) -> "Present":
        if found.members is None:
            return replace(self, now=None, error=found.error, looked=True)
        now = frozenset(found.members)
        earlier = self.then if self.now is None else self.now
        push = found.consume_type == PUSH and set(found.languages) <= {JAVA}
        follow = push or found.consume_type == POP or not now
        return replace(
            self,
            first=self.first if self.looked else now,
            now=now,
            met_at=self.met_at or (at if now else None),
            looked=True,
            steady=self.steady and now == self.then,
            lost=self.lost or not (earlier or frozenset()) <= now,
            obeying=self.obeying and follow,
            error=None,
            first_at=self.first_at or at,
            last_at=at,
            watched=self.watched and seconds_between(self.last_at, at) <= LONGEST_GAP_SECONDS,
        )

    @property
    def nobody(self) -> bool:
        """No member was there when it was written, nor in any round since."""
        return self.then == frozenset() and self.now == frozenset() and self.steady

    @property
    def came_after(self) -> bool:
        """Every member that is or was there joined after it was written."""
        return self.then == frozenset() and self.first == frozenset() and self.met_at is not None

    @property
    def stayed(self) -> bool:
        """The same members as at the time of writing, in each round, and at least one."""
        return bool(self.then) and self.steady and self.now is not None


class Place(Enum):
    """Position of an offset relative to the target and to the former offset."""

    AT = "at its target"
    BETWEEN = "behind its target, and before where it stood: who began at the target passes here, and nobody else"
    BEYOND = "where both may pass who began at the target and who did not"
    AWAY = "before its target: nobody who began at the target commits this"
    GONE = "without a commit"


@dataclass(frozen=True)
class Written:
    """`answered`: the broker said that it did it. `before` null: the queue had no commit. `before_at`: when that was
    read; null: `at`.
    """

    method: ResetMethod
    answered: bool
    before: int | None
    target: int
    at: datetime
    before_at: datetime | None = None

    def unseen_until(self, at: datetime | None) -> bool:
        """Nothing was looked at from before the write until `at`, which is too long."""
        return seconds_between(self.before_at or self.at, at) > LONGEST_GAP_SECONDS

    @property
    def back(self) -> bool:
        return self.before is not None and self.target < self.before

    def place(self, offset: int | None) -> Place:
        if offset is None:
            return Place.GONE
        if offset == self.target:
            return Place.AT
        if offset < self.target:
            return Place.AWAY
        return Place.BETWEEN if self.before is not None and offset < self.before else Place.BEYOND


@dataclass(frozen=True)
class Timing:
    """`until`: when a queue that is not settled is given up. `commit_seconds`: how often the slowest member commits.

    `notified_seconds`: so long after the writing the last member that was told to has followed.
    """

    settled_seconds: float
    until: datetime
    commit_seconds: float = 5.0
    notified_seconds: float = 15.0


@dataclass(frozen=True)
class Case:
    written: Written
    series: "Series"
    present: Present
    timing: Timing
    now: datetime

    @property
    def place(self) -> Place:
        return self.written.place(self.series.last)

    @property
    def broken(self) -> bool:
        """Its broker may have restarted unnoticed since the write."""
        return self.series.broken or self.written.unseen_until(self.series.changes[0].at)

    @property
    def may_be_lost(self) -> bool:
        """Its broker may have restarted with an older offset: the first reading since is not the target."""
        return self.broken and self.written.place(self.series.changes[self.series.start].offset) is not Place.AT

    @property
    def watched(self) -> bool:
        """Since the write no member can have joined and left between two looks, unless within seconds."""
        return self.present.watched and not self.written.unseen_until(self.present.first_at)

    @property
    def goes_on_from_target(self) -> bool:
        """By all readings since the offset last went back; by several offsets, where the target was not among them."""
        places = [self.written.place(change.offset) for change in self.series.run]
        first_read = len(places) == len(self.series.changes) and self.written.answered
        return places[0] is Place.AT or first_read or places.count(Place.BETWEEN) > 1

    @property
    def was_at_target(self) -> bool:
        return self.series.first(lambda offset: self.written.place(offset) is Place.AT) is not None

    @property
    def is_ours(self) -> bool:
        """Whether the queue was certainly set to the target once: the broker said so, or nothing else leads there.
        Where members are notified, the broker itself sets nothing (5.4.0, Broker2Client.resetOffset), and forwards a
        member may reach the target by consuming."""
        by_answer = self.written.answered and self.written.method != ResetMethod.CLIENT
        return by_answer or (self.written.back and self.was_at_target)

    @property
    def stands_still(self) -> bool:
        """Every reading had the former offset."""
        return all(change.offset == self.written.before for change in self.series.changes)

    def held(self, *places: Place) -> float:
        return self.series.held(lambda offset: self.written.place(offset) in places)

    @property
    def age_seconds(self) -> float:
        return (self.now - self.written.at).total_seconds()


# The readings of one queue since it was written, folded: each offset that differs from the last, and its time.


@dataclass(frozen=True)
class Change:
    """`offset` null: the queue had no commit."""

    at: datetime
    offset: int | None


@dataclass(frozen=True)
class Series:
    """`last_at`: the latest reading that the broker answered; `error`: why later ones failed.

    `broken`: it was not read for a while, in which its broker may have restarted. `start`: the place of the change that
    was read first after the latest such gap; `gap`: it lasts.
    """

    changes: tuple[Change, ...] = ()
    last_at: datetime | None = None
    count: int = 0
    error: str | None = None
    broken: bool = False
    start: int = 0
    gap: bool = False

    def read(self, at: datetime, offset: int | None) -> "Series":
        same = self.changes and self.changes[-1].offset == offset
        changes = self.changes if same else (*self.changes, Change(at, offset))
        gap = self.gap or seconds_between(self.last_at, at) > LONGEST_GAP_SECONDS
        start = len(changes) - 1 if gap else self.start
        return Series(changes, at, self.count + 1, broken=self.broken or gap, start=start)

    def failed(self, error: str) -> "Series":
        return replace(self, error=error, broken=True, gap=True)

    @property
    def last(self) -> int | None:
        return self.changes[-1].offset

    @property
    def seconds(self) -> float:
        return seconds_between(self.changes[0].at, self.last_at) if self.changes else 0.0

    @property
    def run(self) -> tuple[Change, ...]:
        """The latest changes, as far back as the offset never went back."""
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
    """The value of `ResetQueue.readings`."""
    return [[change.at.isoformat(), change.offset] for change in series.changes]


def restored(readings: Sequence[Sequence[object]], last_at: datetime | None) -> Series:
    """From `ResetQueue.readings` and `after_at`, by another worker than the one that read them.

    How often it was read is kept by nobody: once a change at least.
    """
    changes = tuple(Change(datetime.fromisoformat(str(at)), _offset(offset)) for at, offset in readings)
    read_at = (last_at or changes[-1].at) if changes else None
    return Series(changes, read_at, len(changes), broken=bool(changes), gap=bool(changes))


def seconds_between(start: datetime | None, end: datetime | None) -> float:
    return (end - start).total_seconds() if start is not None and end is not None else 0.0


def _went_back(earlier: int | None, later: int | None) -> bool:
    return earlier is not None and later is not None and later < earlier


def _offset(value: object) -> int | None:
    return None if value is None else int(str(value))
