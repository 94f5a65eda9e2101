"""A queue that was written, with all that is known of it since: what the rules of read-back look at."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from consumers.models import ResetMethod

from .present import Present
from .series import Series


class Place(Enum):
    """Where an offset lies, as seen from the target and from where the queue stood before."""

    AT = "at its target"
    BETWEEN = "behind its target, and before where it stood: who began at the target passes here, and nobody else"
    BEYOND = "where both may pass who began at the target and who did not"
    AWAY = "before its target: nobody who began at the target commits this"
    GONE = "without a commit"


@dataclass(frozen=True)
class Written:
    """`answered`: the broker said that it did it. `before` null: it had no commit."""

    method: ResetMethod
    answered: bool
    before: int | None
    target: int
    at: datetime

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

    `told_seconds`: so long after the writing the last member that was told to has followed.
    """

    settled_seconds: float
    until: datetime
    commit_seconds: float = 5.0
    told_seconds: float = 15.0


@dataclass(frozen=True)
class Case:
    written: Written
    series: Series
    present: Present
    timing: Timing
    now: datetime

    @property
    def place(self) -> Place:
        return self.written.place(self.series.last)

    @property
    def goes_on_from_target(self) -> bool:
        """By all that was read since it last went back; by several offsets, where the target was not among them."""
        places = [self.written.place(change.offset) for change in self.series.run]
        first_read = len(places) == len(self.series.changes) and self.written.answered
        return places[0] is Place.AT or first_read or places.count(Place.BETWEEN) > 1

    @property
    def was_at_target(self) -> bool:
        return self.series.first(lambda offset: self.written.place(offset) is Place.AT) is not None

    @property
    def is_ours(self) -> bool:
        """It certainly was set to the target once: the broker said so, or nothing else leads there.

        Where members are told, the broker itself sets nothing (5.4.0, Broker2Client.resetOffset), and forwards a member
        may come to the target by consuming.
        """
        by_answer = self.written.answered and self.written.method != ResetMethod.CLIENT
        return by_answer or (self.written.back and self.was_at_target)

    @property
    def stands_still(self) -> bool:
        """It was never read anywhere but where it stood before."""
        return all(change.offset == self.written.before for change in self.series.changes)

    def held(self, *places: Place) -> float:
        return self.series.held(lambda offset: self.written.place(offset) in places)

    @property
    def age_seconds(self) -> float:
        return (self.now - self.written.at).total_seconds()
