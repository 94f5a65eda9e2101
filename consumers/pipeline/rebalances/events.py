"""Rebalances out of the readings of a group: from the first that shows a change until two complete ones in a row agree.

While a queue that should be held has no owner, or two, agreement is not believed before some patience since the last
change: locks of orderly members last 60 s, and members look for new queues every 30 s.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.segments import MICROSECONDS

from .changes import (
    FailedAnswer,
    MemberChange,
    ReadingChanges,
    failed_answers,
    has_ownership_gaps,
    reading_changes,
    topics_of as topics_of_reading,
)
from .history import GroupHistory, GroupReading
from .member_rows import Place


@dataclass(frozen=True)
class Limits:
    lookback_us: int
    patience_us: int
    merge_us: int
    longest_us: int

    @classmethod
    def of(cls, durations: Durations) -> "Limits":
        return cls(
            round(durations.rebalance_lookback_seconds * MICROSECONDS),
            round(durations.rebalance_patience_seconds * MICROSECONDS),
            round(durations.rebalance_merge_seconds * MICROSECONDS),
            round(durations.rebalance_longest_seconds * MICROSECONDS),
        )


# A rollout starts each member once, and a second time where it is rolled back.
STARTS_OF_A_ROLLOUT = 2


@dataclass(frozen=True)
class EvaluatedReading:
    """`number`: of the reading in its group. is_agreed: it settles the rebalance that it belongs to."""

    number: int
    reading: GroupReading
    changes: ReadingChanges
    is_changed: bool
    is_agreed: bool

    @property
    def at_us(self) -> int:
        return self.reading.at_us


@dataclass(frozen=True)
class ObservedRebalance:
    """`readings`: from the first that shows a change on, its last the newest that belongs to it. Fields as in EVENTS of
    tables.py."""

    history: GroupHistory
    readings: Sequence[EvaluatedReading]
    last_change_us: int
    settled_us: int | None
    episode_us: int | None = None
    rollout: bool = False

    @property
    def started_after_us(self) -> int | None:
        return self.readings[0].changes.after_us

    @property
    def started_before_us(self) -> int:
        return self.readings[0].at_us

    @property
    def end_us(self) -> int:
        return self.readings[-1].at_us

    @property
    def last_us(self) -> int:
        return self.end_us if self.settled_us is None else self.settled_us

    @property
    def polls(self) -> int:
        return sum(one.at_us <= self.last_us for one in self.readings)

    @property
    def client_ids_before(self) -> list[str] | None:
        return None if self.started_after_us is None else self._client_ids(self.started_after_us)

    @property
    def client_ids_after(self) -> list[str]:
        return self._client_ids(self.last_us)

    @property
    def member_changes(self) -> list[MemberChange]:
        return [change for one in self.readings for change in one.changes.of_members]

    @property
    def topics(self) -> list[str]:
        """What members subscribed to or held in one of its readings."""
        topics = (topic for one in self.readings for topic in topics_of_reading(self.history, one.reading))
        return list(dict.fromkeys(topics))

    @property
    def versions(self) -> list[int]:
        """The times at which, by members' own clocks, their queues or subscriptions changed."""
        answers = (answer for one in self.readings for answer in one.reading.answers)
        return [one.sub_version_us for one in answers if one.sub_version_us is not None]

    @property
    def held_before(self) -> list[Place] | None:
        """The queues that somebody held when all members last reported; None: they never did."""
        earlier = self.history.last_before(self.readings[0].number, lambda one: one.is_reported)
        return None if earlier is None else earlier.held

    @property
    def failed_answers(self) -> list[FailedAnswer]:
        """In its readings, and for the patience before the first."""
        earliest = bisect_left(self.history.times, self.started_before_us - self.history.patience_us)
        before = [self.history.reading(number) for number in range(earliest, self.readings[0].number)]
        return failed_answers([*before, *(one.reading for one in self.readings)])

    def _client_ids(self, at_us: int) -> list[str]:
        return sorted({one.client_id for one in self.history.listed(at_us)})


def observed_rebalances(history: GroupHistory, limits: Limits) -> list[ObservedRebalance]:
    """Those that begin where changes count (since_us of the group), oldest first, each with its episode."""
    parts = [part for run in _runs(history, limits) for part in _cut(run, limits.longest_us)]
    return _with_episodes([_ended(history, part) for part in parts], limits.merge_us)


def _runs(history: GroupHistory, limits: Limits) -> Iterator[list[EvaluatedReading]]:
    """Readings that belong together: from a change until they agree, or until nothing changed for the longest time."""
    run: list[EvaluatedReading] = []
    last_change_us = complete_us = None
    for number in range(bisect_left(history.times, history.row["since_us"]), len(history.times)):
        reading, at_us = history.reading(number), history.times[number]
        changes = reading_changes(history, number)
        is_changed = changes.is_any or at_us == history.row["opened_us"]
        if is_changed and last_change_us is not None and at_us - last_change_us >= limits.longest_us and run:
            yield run
            run = []
        last_change_us = at_us if is_changed else last_change_us
        if last_change_us is None or not (run or is_changed):
            continue
        age_us = at_us - last_change_us
        is_given_up = age_us >= limits.longest_us
        # Two complete readings at or after the last change, this one and one before.
        agrees = reading.is_complete and not is_changed and complete_us is not None and complete_us >= last_change_us
        is_agreed = (
            agrees and not is_given_up and (age_us >= limits.patience_us or not has_ownership_gaps(history, reading))
        )
        complete_us = at_us if reading.is_complete else complete_us
        if not is_given_up:
            run.append(EvaluatedReading(number, reading, changes, is_changed, is_agreed))
        if is_agreed or is_given_up:
            yield run
            run = []
    if run:
        yield run


def _cut(run: Sequence[EvaluatedReading], longest_us: int) -> Iterator[list[EvaluatedReading]]:
    """A run that lasts too long goes on as another rebalance at its next change."""
    part: list[EvaluatedReading] = []
    for one in run:
        if part and one.is_changed and one.at_us - part[0].at_us >= longest_us:
            yield part
            part = []
        part.append(one)
    yield part


def _ended(history: GroupHistory, readings: Sequence[EvaluatedReading]) -> ObservedRebalance:
    last_change_us = max(one.at_us for one in readings if one.is_changed)
    complete = (one.at_us for one in readings if one.reading.is_complete and one.at_us >= last_change_us)
    settled_us = next(complete) if readings[-1].is_agreed else None
    return ObservedRebalance(history, readings, last_change_us, settled_us)


def _with_episodes(rebalances: Sequence[ObservedRebalance], merge_us: int) -> list[ObservedRebalance]:
    """An episode: rebalances in a row, the stored one before among them, with less than `merge_us` between the end of
    one and the start of the next: a rollout, or a group that does not come to rest."""
    found: list[ObservedRebalance] = []
    for one in rebalances:
        row = one.history.row
        if not found:
            ended_us, began_us, after_us = row["episode_end_us"], row["episode_us"], row["episode_after_us"]
        if ended_us is None or one.started_before_us - ended_us >= merge_us:
            began_us, after_us = one.started_before_us, one.started_after_us
        is_rollout = _all_started_since(one, after_us) and _joined_since(one, began_us) <= _most_joined(one)
        found.append(replace(one, episode_us=began_us, rollout=is_rollout))
        ended_us = one.last_change_us if one.settled_us is None else one.settled_us
    return found


def _all_started_since(rebalance: ObservedRebalance, after_us: int | None) -> bool:
    present = rebalance.history.listed(rebalance.last_us)
    return (
        bool(present)
        and after_us is not None
        and all(one.started_us is not None and one.started_us > after_us for one in present)
    )


def _joined_since(rebalance: ObservedRebalance, episode_us: int) -> int:
    """How many members joined in the episode so far. A member that joins again counts again."""
    joined = rebalance.history.row["joined_us"]
    return bisect_right(joined, rebalance.last_change_us) - bisect_left(joined, episode_us)


def _most_joined(rebalance: ObservedRebalance) -> int:
    """Of a rollout, how many members joined at the most. After more, all members crash again and again."""
    members = max(len(rebalance.client_ids_before or ()), len(rebalance.client_ids_after), 1)
    return STARTS_OF_A_ROLLOUT * members


@dataclass(frozen=True)
class SampledTimes:
    """The readings in which who owns each queue was sampled: the last one before a rebalance, its newest, and all from
    the one to the other. Null where there is none."""

    before_us: int | None
    after_us: int | None
    all_us: list[int]


def sampled_times(started_after_us: int | None, started_before_us: int, end_us: int, times: list[int]) -> SampledTimes:
    """`times`: of all such readings, in order."""
    known = times[: bisect_right(times, end_us)]
    before = known[: bisect_right(known, started_after_us)] if started_after_us is not None else []
    after = known[bisect_left(known, started_before_us) :]
    first = before[-1] if before else started_before_us
    return SampledTimes(
        before[-1] if before else None, after[-1] if after else None, known[bisect_left(known, first) :]
    )


def sampled_of(rebalance: ObservedRebalance) -> SampledTimes:
    """Members of a group that pops do not say which queues they hold."""
    history, started_after_us = rebalance.history, rebalance.started_after_us
    if not history.row["shares_queues"]:
        return sampled_times(started_after_us, rebalance.started_before_us, rebalance.end_us, [])
    times = [one.at_us for one in _readings_between(history, rebalance)]
    return sampled_times(started_after_us, rebalance.started_before_us, rebalance.end_us, times)


def _readings_between(history: GroupHistory, rebalance: ObservedRebalance) -> list[GroupReading]:
    """Those that sample owners, from the last one before the rebalance, or else from its first, to its end."""
    started_after_us, found = rebalance.started_after_us, []
    for number in range(bisect_right(history.times, rebalance.end_us) - 1, -1, -1):
        reading = history.reading(number)
        if started_after_us is None and reading.at_us < rebalance.started_before_us:
            break
        if reading.samples_owners:
            found.append(reading)
            if started_after_us is not None and reading.at_us <= started_after_us:
                break
    return found[::-1]
