"""Queues that a rebalance gave to another owner: what came again, and why.

The new owner goes on from what the broker has. What the old one had taken beyond that comes again. Bounds are those of
the rebalance (pipeline/rebalances/queue_costs.py); here only the cause is told, by what became of the old owner.
RocketMQ 5.4.0, DefaultMQPushConsumerImpl.shutdown: a client that is shut down commits what it has in memory first, so
an offset behind that memory proves that nobody shut it down.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from consumers.rocketmq.bodies.client_bodies import MOST_THREADS
from consumers.vocabulary.repeats import Confidence, RepeatCause, RepeatEvidence, RepeatUnknown

from .parts import Entry, RepeatPart, evidence


class OwnerFate(StrEnum):
    """What became of the process that held the queue before."""

    LEFT = "left"
    SILENT = "silent"  # brokers dropped it after 120 s without a heartbeat
    RECONNECTED = "reconnected"  # it left, and the same process came back
    STAYED = "stayed"


@dataclass(frozen=True)
class LastOwner:
    """The previous owner, as it last reported: the span of offsets that it held, the number of unfinished messages in
    it, and how long the first of them had been unfinished."""

    client_id: str
    fate: OwnerFate
    held_span: int | None = None
    held_count: int | None = None
    head_seconds: float | None = None
    is_orderly: bool | None = None


@dataclass(frozen=True)
class MovedQueue:
    """A queue of one rebalance. `low` and `high` null: who held it was not sampled. Seconds with two owners: at least
    and at most, as sampled."""

    after_us: int | None
    at_us: int
    topic: str
    broker: str
    queue_id: int
    low: int | None
    high: int | None
    from_offset: int | None
    until_offset: int | None
    has_moved: bool
    doubly_owned_seconds_low: float
    doubly_owned_seconds_high: float
    owner: LastOwner | None
    shared_id: str | None = None  # of an owner, before or after, that two processes had
    is_rollout: bool = False
    has_other_causes: bool = False  # the rebalance had more causes than that members left
    was_set_back: bool = False  # its offset on the broker went back then: a repeat of that, not of the rebalance


@dataclass(frozen=True)
class MoveCause:
    cause: RepeatCause
    confidence: Confidence
    evidence: Sequence[Entry]


Rule = Callable[[MovedQueue, float], MoveCause | None]


def moved_part(moved: MovedQueue, held_seconds: float) -> RepeatPart | None:
    """None where nothing came again. The first rule that holds names the cause."""
    cause = next(found for rule in RULES if (found := rule(moved, held_seconds)) is not None)
    is_doubled = cause.cause in (RepeatCause.TWO_OWNERS, RepeatCause.DUPLICATE_CLIENT_ID)
    if not is_doubled and (moved.was_set_back or not _may_have_repeated(moved)):
        return None
    # What two owners both consumed goes on beyond where the second began: nobody counts that.
    high = None if is_doubled else moved.high
    unknown = RepeatUnknown.OVERLAP_NOT_COUNTED if is_doubled else RepeatUnknown.OWNER_NOT_SAMPLED
    return RepeatPart(
        cause=cause.cause,
        confidence=cause.confidence,
        after_us=moved.after_us,
        at_us=moved.at_us,
        topic=moved.topic,
        broker=moved.broker,
        queue_id=moved.queue_id,
        low=moved.low,
        high=high,
        from_offset=moved.from_offset,
        until_offset=None if is_doubled else moved.until_offset,
        unknown=unknown if high is None or moved.low is None else None,
        evidence=cause.evidence,
    )


def _may_have_repeated(moved: MovedQueue) -> bool:
    """A queue that nobody is known to have held before is no repeat for being taken."""
    return bool(moved.high) or (moved.high is None and moved.has_moved and moved.owner is not None)


def _shared_id(moved: MovedQueue, held_seconds: float) -> MoveCause | None:
    if moved.shared_id is None or not moved.doubly_owned_seconds_high:
        return None
    shared = evidence(RepeatEvidence.SHARED_CLIENT_ID, client_id=moved.shared_id)
    return MoveCause(RepeatCause.DUPLICATE_CLIENT_ID, Confidence.PROVEN, [shared])


def _two_owners(moved: MovedQueue, held_seconds: float) -> MoveCause | None:
    if not moved.doubly_owned_seconds_high:
        return None
    # Members are asked one after the other: a single reading may show a queue twice that went from one to the other.
    is_sure = moved.doubly_owned_seconds_low > 0
    bounds = {"seconds_low": moved.doubly_owned_seconds_low, "seconds_high": moved.doubly_owned_seconds_high}
    seen = evidence(RepeatEvidence.TWO_OWNERS_SEEN, **bounds)
    return MoveCause(RepeatCause.TWO_OWNERS, Confidence.PROVEN if is_sure else Confidence.POSSIBLE, [seen])


def _crashed_out_of_order(moved: MovedQueue, held_seconds: float) -> MoveCause | None:
    """Most of the redelivered messages had been finished: one message in front held the offset back."""
    owner = moved.owner
    if owner is None or not _is_gone(owner) or not _held_long(owner, held_seconds):
        return None
    span = _span_out_of_order(owner, moved.high)
    finished = None if span is None or owner.held_count is None else span - owner.held_count
    if owner.is_orderly or not finished or 2 * finished < (span or 0):
        return None
    held = evidence(RepeatEvidence.HELD_OUT_OF_ORDER, finished=finished, span=span)
    return MoveCause(
        RepeatCause.FINISHED_OUT_OF_ORDER, Confidence.LIKELY, [*_of_gone(owner), _head(owner), held, *_gap(moved)]
    )


def _span_out_of_order(owner: LastOwner, high: int | None) -> int | None:
    """At most, of what it held or had finished: offsets that a tag filter passed over count, too. What is finished
    behind the last held message is not in the span of what is held, but in the high bound; nothing is while some wait
    for a thread."""
    if owner.held_span is None or owner.held_count is None or owner.held_count > MOST_THREADS:
        return owner.held_span
    return max(owner.held_span, high or 0)


def _restarted_in_local_retry(moved: MovedQueue, held_seconds: float) -> MoveCause | None:
    """An orderly member tries a message that fails again on the spot, and commits nothing meanwhile."""
    owner = moved.owner
    if owner is None or not _is_gone(owner) or not owner.is_orderly or not _held_long(owner, held_seconds):
        return None
    return MoveCause(RepeatCause.LOCAL_RETRY_RESTART, Confidence.LIKELY, [*_of_gone(owner), _head(owner), *_gap(moved)])


def _crashed(moved: MovedQueue, held_seconds: float) -> MoveCause | None:
    owner = moved.owner
    if owner is None or not _is_gone(owner):
        return None
    if moved.low:
        # A member that joined meanwhile may have started before the old owner committed for the last time.
        is_sure = owner.fate == OwnerFate.LEFT and not moved.has_other_causes
        confidence = Confidence.PROVEN if is_sure else Confidence.LIKELY
        return MoveCause(RepeatCause.CONSUMER_CRASH, confidence, [*_of_gone(owner), *_gap(moved)])
    if moved.is_rollout:
        found = [*_of_gone(owner), evidence(RepeatEvidence.ALL_RESTARTED), *_gap(moved)]
        return MoveCause(RepeatCause.SHUTDOWN_DID_NOT_WAIT, Confidence.POSSIBLE, found)
    return MoveCause(RepeatCause.CONSUMER_CRASH, Confidence.POSSIBLE, [*_of_gone(owner), *_gap(moved)])


def _moved_on(moved: MovedQueue, held_seconds: float) -> MoveCause:
    """Its old owner is there, or nobody knows who that was: the offset was behind what the old owner had."""
    owner = moved.owner
    if owner is None:
        found = [evidence(RepeatEvidence.OWNER_UNKNOWN), *_gap(moved)]
        return MoveCause(RepeatCause.STALE_OFFSET, Confidence.POSSIBLE, found)
    is_back = owner.fate == OwnerFate.RECONNECTED
    code = RepeatEvidence.OWNER_RECONNECTED if is_back else RepeatEvidence.OWNER_STAYED
    confidence = Confidence.POSSIBLE
    if moved.low:
        # A broker that crashed loses its connections, too, and begins with older offsets.
        confidence = Confidence.LIKELY if is_back else Confidence.PROVEN
    found = [evidence(code, client_id=owner.client_id), *_gap(moved)]
    return MoveCause(RepeatCause.STALE_OFFSET, confidence, found)


RULES: tuple[Rule, ...] = (
    _shared_id,
    _two_owners,
    _crashed_out_of_order,
    _restarted_in_local_retry,
    _crashed,
    _moved_on,
)


def _is_gone(owner: LastOwner) -> bool:
    return owner.fate in (OwnerFate.LEFT, OwnerFate.SILENT)


def _held_long(owner: LastOwner, held_seconds: float) -> bool:
    return owner.head_seconds is not None and owner.head_seconds >= held_seconds


def _of_gone(owner: LastOwner) -> list[Entry]:
    code = RepeatEvidence.OWNER_SILENT if owner.fate == OwnerFate.SILENT else RepeatEvidence.OWNER_LEFT
    return [evidence(code, client_id=owner.client_id)]


def _head(owner: LastOwner) -> Entry:
    return evidence(RepeatEvidence.HEAD_HELD, seconds=owner.head_seconds)


def _gap(moved: MovedQueue) -> list[Entry]:
    """How far behind the old owner's memory the new one began, where that is known."""
    if moved.low is None:
        return []
    if moved.low:
        return [evidence(RepeatEvidence.START_BEHIND_MEMORY, messages=moved.low)]
    return [evidence(RepeatEvidence.NO_GAP_SEEN)]
