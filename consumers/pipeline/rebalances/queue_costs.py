"""One queue of a group through a rebalance: who owned it before and after, for how long nobody or two did, and how many
messages its next owner was given that its last one had consumed or held.

A sampled reading is one in which every listed member reported what it holds; in between nobody knows. A reading counts
until the next one. At least: between readings that both showed it; at most: between two of which either did.

What was replayed is half-open from where the next owner began to where the last one was. Neither is seen when it
happens, only at the clients' answers, so each bound takes the end of its span that makes it safe:
low from the last one's offset in memory to the furthest the next one can have begun;
high from all that the last one held to the nearest, and no less than what it can have pulled and finished after its
last answer. That is at most what its broker had when the next one began; and at most what its own settings let it hold,
with what a client that works as fast as this queue was seen to move finishes between two of its commits (RocketMQ
5.4.0, MQClientInstance: every 5 s). What a client holds is what it has not finished (ProcessQueue): where one message
stands in front, it may have finished all behind it, as far as the broker had messages.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from consumers.pipeline.kernel.segments import MICROSECONDS
from consumers.rocketmq.bodies.client_bodies import MOST_THREADS
from consumers.vocabulary.reasons import RebalanceReason
from consumers.vocabulary.states import UnknownReason

from .events import SampledTimes


class OwnerSample(NamedTuple):
    """Who owned the queue in a sampled reading, an id that two processes share twice; is_wanted: somebody should."""

    at_us: int
    owners: tuple[str, ...]
    is_wanted: bool

    @property
    def is_unowned(self) -> bool:
        return self.is_wanted and not self.owners

    @property
    def is_doubly_owned(self) -> bool:
        return len(self.owners) > 1


class OwnerAnswer(NamedTuple):
    """What a client that holds the queue reported of it."""

    at_us: int
    client_id: str
    started_us: int | None
    commit_offset: int | None
    cached_min: int | None
    cached_max: int | None
    cached_count: int | None = None
    is_orderly: bool | None = None


class OffsetReading(NamedTuple):
    """What the broker reported; `reason`: why the lag is unknown."""

    at_us: int
    consumer_offset: int | None
    broker_offset: int | None
    reason: str | None


class Tenure(NamedTuple):
    """A stretch of a client's answers that hold the queue. It ends where a sampled reading in between shows that the
    client does not hold it, where the client has started anew, and where its offset in memory went back: it began
    again."""

    first: OwnerAnswer
    last: OwnerAnswer


class Replay(NamedTuple):
    """How many messages at least and at most, and within which offsets, half-open: null where none was; all null for
    the reason `why`, a RebalanceReason."""

    replayed_messages_low: int | None
    replayed_messages: int | None
    why: str | None = None
    replayed_from: int | None = None
    replayed_until: int | None = None


@dataclass(frozen=True)
class Bounds:
    """Microseconds: as sampled, at least and at most."""

    sampled: int
    low: int
    high: int


@dataclass(frozen=True)
class CostSpan:
    """The rebalance whose costs are sought."""

    started_after_us: int | None
    started_before_us: int
    end_us: int
    is_broadcasting: bool
    times: SampledTimes

    @property
    def not_sampled(self) -> str | None:
        """Why it is unknown who owned its queues."""
        if self.times.before_us is None:
            return RebalanceReason.OWNERS_BEFORE
        return RebalanceReason.OWNERS_AFTER if self.times.after_us is None else None


@dataclass(frozen=True)
class QueueHistory:
    """`wanted`: spans (from, until) in which somebody should hold the queue; null: no bound. `earlier`: the last answer
    of who held it before it had no owner. `may_hold`: by client id, how many messages of a queue its settings let it
    hold; those that have not reported them are left out. Lists are in the order of time."""

    span: CostSpan
    samples: Sequence[OwnerSample]
    answers: Sequence[OwnerAnswer] = ()
    offsets: Sequence[OffsetReading] = ()
    wanted: Sequence[tuple[int | None, int | None]] = ()
    earlier: OwnerAnswer | None = None
    may_hold: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_of_group(self) -> bool:
        """Brokers keep offsets of queues that nobody in the group holds or should hold: those have lag, no owner."""
        return bool(self.wanted or self.answers)

    @property
    def before(self) -> list[str] | None:
        return self._owners_at(self.span.times.before_us)

    @property
    def after(self) -> list[str] | None:
        return self._owners_at(self.span.times.after_us)

    @property
    def has_moved(self) -> bool:
        """False where who held it before or after is unknown."""
        return self.before is not None and self.after is not None and self.before != self.after

    def _owners_at(self, at_us: int | None) -> list[str] | None:
        return next((sorted(set(one.owners)) for one in self.samples if one.at_us == at_us), None)

    @cached_property
    def unowned(self) -> Bounds:
        return self._lapse(lambda one: one.is_unowned)

    @cached_property
    def doubly_owned(self) -> Bounds:
        return self._lapse(lambda one: one.is_doubly_owned)

    @property
    def was_doubly_owned(self) -> bool:
        return any(one.is_doubly_owned for one in self.samples if one.at_us >= self.span.started_before_us)

    def _lapse(self, shows: Callable[[OwnerSample], bool]) -> Bounds:
        """From the first change seen on; at most from the reading before it on."""
        sampled = low = high = 0
        started = self.span.started_before_us
        earliest = started if self.span.started_after_us is None else self.span.started_after_us
        for one, following in pairwise(self.samples):
            length = max(following.at_us - max(one.at_us, started), 0)
            sampled += length if shows(one) else 0
            low += length if shows(one) and shows(following) else 0
            longest = max(following.at_us - max(one.at_us, earliest), 0)
            high += longest if shows(one) or shows(following) else 0
        return Bounds(sampled, low, high)


def tenures(queue: QueueHistory) -> list[Tenure]:
    """In the order of their first answers."""
    of_client: dict[str, list[OwnerAnswer]] = {}
    for answer in queue.answers:
        of_client.setdefault(answer.client_id, []).append(answer)
    found = [one for answers in of_client.values() for one in _tenures_of_client(answers, queue.samples)]
    return sorted(found, key=lambda one: (one.first.at_us, one.first.client_id))


def _tenures_of_client(answers: Sequence[OwnerAnswer], samples: Sequence[OwnerSample]) -> Iterator[Tenure]:
    first = last = answers[0]
    for answer in answers[1:]:
        if _begins_again(last, answer, samples):
            yield Tenure(first, last)
            first = answer
        last = answer
    yield Tenure(first, last)


def _begins_again(before: OwnerAnswer, answer: OwnerAnswer, samples: Sequence[OwnerSample]) -> bool:
    is_other_start = None not in (before.started_us, answer.started_us) and before.started_us != answer.started_us
    return (
        is_other_start
        or _is_less(answer.commit_offset, before.commit_offset)
        or any(before.at_us < one.at_us < answer.at_us and answer.client_id not in one.owners for one in samples)
    )


# A head that was not finished for so long stands: what is behind it goes on.
STANDING_US = 30 * MICROSECONDS


@dataclass(frozen=True)
class Handover:
    """`new`: the first answer of an owner. `old`: the last answer of the previous owner, or of whoever held the queue
    before a time without an owner; None where no owner is known."""

    queue: QueueHistory
    old: OwnerAnswer | None
    new: OwnerAnswer
    committed: Sequence[OffsetReading] = field(repr=False)

    @property
    def from_us(self) -> int:
        """The last reading of offsets at or before the old owner's last answer, and before the new one's first."""
        last_spoke = self.new.at_us - 1
        if self.old is not None:
            last_spoke = min(self.old.at_us, last_spoke)
        read = [one.at_us for one in self.committed if one.at_us <= last_spoke]
        # One that spoke last before all of these readings: the oldest of them is the nearest.
        nearest = read[-1] if read else (self.committed[0].at_us if self.committed else self.new.at_us)
        return min(nearest, self.new.at_us)

    @cached_property
    def between(self) -> list[OffsetReading]:
        """Readings of offsets from from_us to the new owner's first answer."""
        from_us = self.from_us
        return [one for one in self.committed if from_us <= one.at_us <= self.new.at_us]

    @cached_property
    def after(self) -> OffsetReading | None:
        return next((one for one in self.queue.offsets if one.at_us >= self.new.at_us), None)

    @property
    def reason(self) -> str | None:
        """Why the lag was unknown when the broker was last read before."""
        earlier = [one.reason for one in self.queue.offsets if one.at_us < self.new.at_us]
        return earlier[-1] if earlier else None

    @property
    def latest(self) -> int | None:
        """The furthest that the new owner can have begun."""
        reported = _least(self.new.commit_offset, self.new.cached_min)
        return self.after.consumer_offset if reported is None and self.after is not None else reported

    @property
    def position(self) -> int | None:
        """Where the old owner was."""
        known = [] if self.old is None else [self.old.commit_offset, self.old.cached_min]
        known += [one.consumer_offset for one in self.between[:1]]
        return next((one for one in known if one is not None), None)

    @property
    def overtaken(self) -> int | None:
        """The broker offset, where the old owner may have finished all up to there behind a head that stood."""
        # An orderly client finishes nothing before its head.
        if (
            self.old is None
            or self.old.is_orderly
            or self.old.cached_min is None
            or self.old.cached_max is None
            or not self.between
        ):
            return None
        before = [one for one in self.committed if one.at_us <= self.from_us]
        if not before or before[-1].at_us - before[0].at_us < STANDING_US:
            return None
        has_moved = before[0].consumer_offset != before[-1].consumer_offset
        are_waiting = self.old.cached_count is not None and self.old.cached_count > MOST_THREADS
        return None if has_moved or are_waiting else self.between[-1].broker_offset

    @property
    def may_hold(self) -> int | None:
        """What the old owner can have held by the time it gave the queue up; null where its settings are unknown."""
        return None if self.old is None else self.queue.may_hold.get(self.old.client_id)

    @property
    def pace(self) -> float:
        """Messages a second, by what was committed; 0 where that cannot be told."""
        if not self.between:
            return 0.0
        start, last = self.committed[0], self.between[-1]
        seconds = (last.at_us - start.at_us) / MICROSECONDS
        return ((last.consumer_offset or 0) - (start.consumer_offset or 0)) / seconds if seconds else 0.0


def replay_of(queue: QueueHistory, commit_interval_seconds: float) -> Replay:
    """0 where nobody took the queue over."""
    parts = [_replayed(one, commit_interval_seconds) for one in handovers(queue)]
    why = next((part.why for part in parts if part.why is not None), None)
    if why is not None:
        return Replay(None, None, why)
    low = sum(part.replayed_messages_low or 0 for part in parts)
    starts = [part.replayed_from for part in parts if part.replayed_from is not None]
    ends = [part.replayed_until for part in parts if part.replayed_until is not None]
    high = sum(part.replayed_messages or 0 for part in parts)
    return Replay(low, high, None, min(starts, default=None), max(ends, default=None))


def handovers(queue: QueueHistory) -> list[Handover]:
    """One for each tenure that begins after the reading before the rebalance."""
    committed = [one for one in queue.offsets if one.consumer_offset is not None]
    found, old = [], queue.earlier
    for one in tenures(queue):
        if one.first.at_us > (queue.span.started_after_us or 0):
            found.append(Handover(queue, old, one.first, committed))
        old = one.last
    return found


def _replayed(handover: Handover, commit_interval_seconds: float) -> Replay:
    old, position, latest = handover.old, handover.position, handover.latest
    if handover.after is not None and handover.after.broker_offset == 0:
        return Replay(0, 0)  # The queue has never had a message.
    if (position is None or old is None) and _is_first(handover):
        return Replay(0, 0)
    if old is None:
        return Replay(None, None, RebalanceReason.NO_OLD_OWNER)
    if position is None or latest is None:
        return Replay(None, None, RebalanceReason.NO_START)
    low = max(position - latest, 0)
    held = max(position, handover.overtaken or 0, 0 if old.cached_max is None else old.cached_max + 1)
    committed = [one.consumer_offset for one in handover.between if one.consumer_offset is not None]
    earliest = min([latest, *committed])
    # After its last answer it pulled on: by its settings, and no more than there was to be had.
    stored = None if handover.after is None else handover.after.broker_offset
    possible = None if stored is None else stored - earliest
    if handover.may_hold is not None:
        uncommitted = math.ceil(max(handover.pace, 0.0) * commit_interval_seconds)
        pulled = max(held - position, handover.may_hold) + uncommitted
        possible = pulled if possible is None else min(pulled, possible)
    if possible is None:
        return Replay(None, None, RebalanceReason.NO_END)
    high = max(low, held - earliest, possible)
    return Replay(low, high, None, earliest, earliest + high) if high else Replay(0, 0)


def _is_first(handover: Handover) -> bool:
    """Nobody had consumed anything: no offset on the broker, none in an old owner's memory."""
    started_after_us = handover.queue.span.started_after_us
    is_fresh = started_after_us is not None and any(
        since is not None and since > started_after_us for since, _ in handover.queue.wanted
    )
    return handover.reason == UnknownReason.NEVER_COMMITTED or is_fresh


def _is_less(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one < other


def _least(*values: int | None) -> int | None:
    return min((one for one in values if one is not None), default=None)
