"""Consumer offsets that went back: who or what set them back, and how much comes again because of it.

Only readings show a fall: the offset that a member went on from lies at or below the first one that was read after it,
and the position that it had reached at or above the last one that was read before. Each bound takes the safe end.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from consumers.pipeline.kernel.segments import MICROSECONDS, MINUTE_US
from consumers.vocabulary.repeats import Confidence, RepeatCause, RepeatEvidence, RepeatUnknown

from .away_file import AwayFile
from .parts import Entry, RepeatPart, evidence


@dataclass(frozen=True)
class ResetWrite:
    """What one of our resets did to the queue: where it stood right before, and where it was set. `is_confirmed`: it
    was read there afterwards."""

    reset: str
    before: int
    target: int
    is_confirmed: bool = True


@dataclass(frozen=True)
class FallenQueue:
    """One step back of a queue's offset, as kernel/falls.py finds it, and what is known around it.

    `fastest`: messages a second; `regained`: the same from the lower offset on, where a member reported that.
    `shown_us`: when the lower offset was seen; null: at its end. `held_until`: the end of what its owner last reported
    to hold. `is_kept`: a member that held the queue before and after reported to be past the old offset all the same.
    `is_resumed`: nobody kept it, and a member took it from the broker afterwards. `resumed_by`: a member that reported
    to be at the lower offset. `away_us`: the first reading of its broker in between that failed; null: none did.
    `back_us`: until when nobody can have gone on from the lower offset; null: from the reading before on. `file`: the
    broker's offset file, as it was read then. `slave`: who answered in its master's place; `slave_offset`: with which
    older offset. `given_up_by`: nobody saw the lower offset, which is that of the file; this member gave the queue up,
    and it was taken anew. `is_move`: a rebalance explains it. `is_shared`: two processes with one client id held it.
    `members`: how many the group had; null: not known. `fell_together`: queues of the group that fell in the same
    reading.
    """

    before_us: int
    from_offset: int
    at_us: int
    to_offset: int
    topic: str
    broker: str
    queue_id: int
    broker_offset: int
    min_offset: int | None = None
    fastest: float = 0.0
    regained: float = 0.0
    was_lost: bool = False
    shown_us: int | None = None
    held_until: int | None = None
    is_kept: bool = False
    is_resumed: bool = False
    resumed_by: str | None = None
    reset: ResetWrite | None = None
    is_move: bool = False
    is_shared: bool = False
    away_us: int | None = None
    back_us: int | None = None
    file: AwayFile | None = None
    slave: str | None = None
    slave_offset: int | None = None
    given_up_by: str | None = None
    members: int | None = None
    fell_together: int = 1

    @property
    def gap(self) -> bool:
        return self.away_us is not None

    @property
    def held_offset(self) -> int | None:
        """What the broker's file held, where the broker can have begun with it."""
        offset = None if self.file is None else self.file.offset
        if offset is None or not 0 <= self.to_offset - offset <= self._moved_after:
            return None
        return offset

    @property
    def _moved_before(self) -> int:
        """What it can have moved on since the reading before; of a broker that is away nobody is given anything."""
        return _moved(self.fastest, self.before_us, self.at_us if self.away_us is None else self.away_us)

    @property
    def _moved_after(self) -> int:
        since = self.before_us if self.back_us is None else self.back_us
        until = self.at_us if self.shown_us is None else self.shown_us
        return _moved(max(self.fastest, self.regained), since, until)

    @property
    def reached(self) -> int:
        """The furthest that it can have been: what its owner held, and could take until the next reading. Without a
        member nobody was further than the offset."""
        if self.members == 0:
            return self.from_offset
        if self.held_until is None:
            return max(self.broker_offset, self.from_offset)
        position = max(self.from_offset, self.held_until) + self._moved_before
        return max(min(position, self.broker_offset), self.from_offset)

    @property
    def restart(self) -> int:
        """The lowest offset that it can have gone on from."""
        least = min(self.min_offset or 0, self.to_offset)
        if self.reset is not None:
            return min(self.reset.target, self.to_offset)
        if self.slave_offset is not None and self.resumed_by is not None:
            return min(self.slave_offset, self.to_offset)
        is_other = self.file is not None and (self.file.was_gone or (self.file.changed and self.file.is_written))
        if self.was_lost or is_other:
            # A member commits only some seconds after it began, wherever its ConsumeFromWhere let it begin.
            return least
        return max(self.to_offset - self._moved_after, least) if self.held_offset is None else self.held_offset


def _moved(fastest: float, since_us: int, until_us: int) -> int:
    return math.ceil(fastest * max(until_us - since_us, 0) / MICROSECONDS)


@dataclass(frozen=True)
class FallCause:
    """`is_certain` False: as long as its owner keeps the queue, it commits again what it has in memory."""

    cause: RepeatCause
    confidence: Confidence
    evidence: Sequence[Entry]
    is_certain: bool = True


def fallen_part(fallen: FallenQueue) -> RepeatPart | None:
    """None where a rebalance explains it: the repeat is the rebalance's; where two processes with one id commit in
    turn: so is that; and where a broker lost offsets that its members still had. Of a reset: from where it stood to
    where it was set, whatever readings saw of that."""
    if fallen.is_move or (fallen.is_shared and fallen.reset is None):
        return None
    cause = next(found for rule in RULES if (found := rule(fallen)) is not None)
    if not cause.is_certain and fallen.is_kept:
        return None
    least = fallen.from_offset - fallen.to_offset
    fell = evidence(RepeatEvidence.OFFSET_FELL, from_offset=fallen.from_offset, to_offset=fallen.to_offset)
    if fallen.given_up_by is not None:
        fell = evidence(RepeatEvidence.OWNER_STAYED, client_id=fallen.given_up_by)
        cause = replace(cause, confidence=Confidence.LIKELY, is_certain=False)
    high = max(fallen.reached - fallen.restart, least)
    return RepeatPart(
        cause=cause.cause,
        confidence=cause.confidence,
        after_us=fallen.before_us,
        at_us=fallen.at_us,
        topic=fallen.topic,
        broker=fallen.broker,
        queue_id=fallen.queue_id,
        low=least if cause.is_certain else 0,
        high=high,
        from_offset=fallen.restart,
        until_offset=fallen.restart + high,
        evidence=[*cause.evidence, fell],
    )


def _reset(fallen: FallenQueue) -> FallCause | None:
    if fallen.reset is None:
        return None
    written = evidence(RepeatEvidence.RESET_WRITTEN, reset=fallen.reset.reset, target=fallen.reset.target)
    return FallCause(RepeatCause.RESET, Confidence.PROVEN, [written], is_certain=fallen.reset.is_confirmed)


def _slave(fallen: FallenQueue) -> FallCause | None:
    """A member that reports an offset below the master's can have it from the slave alone."""
    if fallen.slave is None:
        return None
    found = [evidence(RepeatEvidence.READ_FROM_SLAVE, broker=fallen.broker, slave=fallen.slave)]
    if fallen.slave_offset is not None:
        found.append(evidence(RepeatEvidence.SLAVE_HELD, slave=fallen.slave, offset=fallen.slave_offset))
    found += _resumed(fallen)
    if fallen.resumed_by is None:
        return FallCause(RepeatCause.SLAVE_FAILOVER, Confidence.LIKELY, found, is_certain=fallen.is_resumed)
    return FallCause(RepeatCause.SLAVE_FAILOVER, Confidence.PROVEN, found)


def _file_lost(fallen: FallenQueue) -> FallCause | None:
    if fallen.was_lost:
        lost = evidence(RepeatEvidence.OFFSET_WAS_LOST, broker=fallen.broker)
        return FallCause(RepeatCause.OFFSET_FILE_LOST, Confidence.PROVEN, [lost, *_resumed(fallen)])
    if not fallen.gap or fallen.file is None or not fallen.file.was_gone:
        return None
    codes = (RepeatEvidence.FILE_GONE, RepeatEvidence.BROKER_UNREAD)
    found = [*(evidence(code, broker=fallen.broker) for code in codes), *_resumed(fallen)]
    return FallCause(RepeatCause.OFFSET_FILE_LOST, Confidence.LIKELY, found, is_certain=fallen.is_resumed)


def _file_changed(fallen: FallenQueue) -> FallCause | None:
    if not fallen.gap or fallen.file is None or fallen.file.changed is None:
        return None
    unread = evidence(RepeatEvidence.BROKER_UNREAD, broker=fallen.broker)
    code = RepeatEvidence.FILE_MODIFIED if fallen.file.is_written else RepeatEvidence.FILE_OLDER
    modified = evidence(code, at=fallen.file.modified_at)
    found = [modified, unread, *_held(fallen), *_resumed(fallen)]
    is_begun_with = fallen.held_offset is not None or fallen.file.is_written
    confidence = fallen.file.changed if is_begun_with else Confidence.LIKELY
    return FallCause(RepeatCause.OFFSET_FILE_CHANGED, confidence, found, is_certain=fallen.is_resumed)


def _broker_crash(fallen: FallenQueue) -> FallCause | None:
    """A broker that is stopped in order writes its file. One whose file lacked what it had in memory was not, and began
    with that file again."""
    if not fallen.gap:
        return None
    unread = evidence(RepeatEvidence.BROKER_UNREAD, broker=fallen.broker)
    found = [unread, *_held(fallen), *_resumed(fallen)]
    # One that was consumed on since it began may have begun elsewhere.
    is_sure = fallen.held_offset == fallen.to_offset and fallen.file is not None and fallen.file.is_final
    confidence = Confidence.PROVEN if is_sure else Confidence.LIKELY
    return FallCause(RepeatCause.BROKER_CRASH, confidence, found, is_certain=fallen.is_resumed)


def _held(fallen: FallenQueue) -> list[Entry]:
    if fallen.held_offset is None:
        return []
    return [evidence(RepeatEvidence.FILE_HELD, broker=fallen.broker, offset=fallen.held_offset)]


def _resumed(fallen: FallenQueue) -> list[Entry]:
    if fallen.resumed_by is None:
        return []
    return [evidence(RepeatEvidence.RESUMED_BEHIND, client_id=fallen.resumed_by, offset=fallen.to_offset)]


def _reset_elsewhere(fallen: FallenQueue) -> FallCause | None:
    """Nobody else sets an offset back: a member's own never goes back, and a group without one has nobody."""
    if fallen.members is None:
        return None
    if fallen.members == 0:
        return FallCause(RepeatCause.RESET_ELSEWHERE, Confidence.LIKELY, [evidence(RepeatEvidence.NO_MEMBER)])
    if fallen.fell_together > 1:
        several = evidence(RepeatEvidence.SEVERAL_QUEUES, queues=fallen.fell_together)
        return FallCause(RepeatCause.RESET_ELSEWHERE, Confidence.LIKELY, [several])
    return FallCause(RepeatCause.RESET_ELSEWHERE, Confidence.POSSIBLE, [])


def _unknown(fallen: FallenQueue) -> FallCause:
    return FallCause(RepeatCause.UNKNOWN, Confidence.POSSIBLE, [evidence(RepeatEvidence.MEMBERS_UNKNOWN)])


RULES: tuple[Callable[[FallenQueue], FallCause | None], ...] = (
    _reset,
    _slave,
    _file_lost,
    _file_changed,
    _broker_crash,
    _reset_elsewhere,
    _unknown,
)


# Messages that came into a group's retry topic: each was delivered, sent back, and comes again.
#
# Members send a message back when the listener returns RECONSUME_LATER or null, or throws: only their logs tell those
# apart. A message whose consumption took longer than consumeTimeout is sent back, too, without counting as a failure.
# Members that pop send nothing back: the broker puts a message there that was not acknowledged within its invisible
# time. A listener that failed sets that time anew (5.4.0, ConsumeMessagePopConcurrentlyService).


@dataclass(frozen=True)
class RetryMinute:
    """`came`: messages that entered the retry topic in the minute from `start_us`; `consumed`: messages that left it.
    Null is unknown. `before_us`, `read_us`: the last reading before the minute and the last one in it, between which
    the messages entered; null where no such reading is known, and the minute itself bounds the time."""

    start_us: int
    came: int | None
    consumed: int | None
    before_us: int | None = None
    read_us: int | None = None


@dataclass(frozen=True)
class ListenerReport:
    """What the group's members report: `failures` of the last hour by all of them (null: one did not say), and the most
    messages that one call of a listener is given. `pops`: a member pops its messages."""

    failures: int | None = None
    batch_size: int | None = None
    pops: bool = False


def sent_back_part(topic: str, minute: RetryMinute, listener: ListenerReport, is_open: bool) -> RepeatPart | None:
    """Returns None where no message entered the retry topic. `is_open`: messages entered shortly before, so an unknown
    minute may have had some."""
    if not minute.came and not (minute.came is None and is_open):
        return None
    cause, confidence, found = _cause(listener)
    low = None
    if minute.came is not None:
        # Those that the group has not consumed yet are still to come.
        low = min(minute.came, minute.consumed or 0)
    return RepeatPart(
        cause=cause,
        confidence=confidence,
        after_us=minute.start_us if minute.before_us is None else minute.before_us,
        # The last moment of the minute: the next one begins with its end.
        at_us=minute.start_us + MINUTE_US - 1 if minute.read_us is None else minute.read_us,
        topic=topic,
        broker=None,
        queue_id=None,
        low=low,
        high=minute.came,
        unknown=RepeatUnknown.MINUTE_UNKNOWN if minute.came is None else None,
        evidence=found,
    )


def _cause(listener: ListenerReport) -> tuple[RepeatCause, Confidence, Sequence[Entry]]:
    failed = bool(listener.failures)
    if listener.pops and not failed:
        return RepeatCause.POP_REVIVE, Confidence.LIKELY, [evidence(RepeatEvidence.MEMBERS_POP)]
    found = [evidence(RepeatEvidence.MEMBERS_POP if listener.pops else RepeatEvidence.SENT_BACK)]
    if failed:
        found.append(evidence(RepeatEvidence.FAILURES_REPORTED, failures=listener.failures))
    if listener.batch_size is not None and listener.batch_size > 1:
        found.append(evidence(RepeatEvidence.BATCH_SIZE, size=listener.batch_size))
        return RepeatCause.BATCH_RECONSUME, Confidence.LIKELY if failed else Confidence.POSSIBLE, found
    # Of members that pop, a part may have come because its invisible time ran out.
    is_proven = failed and not listener.pops
    return RepeatCause.WRONG_ACK, Confidence.PROVEN if is_proven else Confidence.LIKELY, found
