"""Lines of RocketMQ's logs as evidence of repeats: what each proves or supports stands in vocabulary/repeats.py. Pure.

A line counts that lies within the bounds of what came again and names its queue, or none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from consumers.pipeline.kernel.segments import MICROSECONDS
from consumers.vocabulary.logs import LogCode
from consumers.vocabulary.repeats import REPEAT_CAUSES, Confidence, RepeatCause, RepeatEvidence
from consumers.vocabulary.times import from_microseconds, iso

from .parts import Entry, RepeatPart, evidence

# Of one part: a log may have a thousand lines of a minute.
LINES_KEPT = 5
# What is sent back comes again 10 s later for the first time, and a minute is dated by when it comes.
RETRY_DELAY_US = 60 * MICROSECONDS
# Clocks of members and of this host may differ by so much.
CLOCKS_DIFFER_US = 2 * MICROSECONDS
FAILED_ANSWERS = (RepeatCause.WRONG_ACK, RepeatCause.BATCH_RECONSUME)
# A client that is shut down leaves its groups first, and has ended some seconds later.
SHUTDOWN_LASTS_US = 10 * MICROSECONDS
SHUT_DOWN = {LogCode.CONSUMER_UNREGISTERED, LogCode.CLIENT_STOPPED}
DEPARTURES = (RepeatCause.CONSUMER_CRASH, RepeatCause.SHUTDOWN_DID_NOT_WAIT)
CODES = tuple({code for spec in REPEAT_CAUSES.values() for code in (*spec.proven_by, *spec.supported_by)})


@dataclass(frozen=True)
class LoggedLine:
    """`lines` of one kind from `began_us` to `at_us`. Null is what they do not name."""

    code: LogCode
    began_us: int
    at_us: int
    lines: int = 1
    topic: str | None = None
    broker: str | None = None
    queue_id: int | None = None
    client_id: str | None = None


def with_lines(part: RepeatPart, lines: Sequence[LoggedLine]) -> RepeatPart:
    """The part with the lines of its group that support its cause, proven where one names it.

    Messages that were sent back because they took too long look like wrong answers: where only such lines are there,
    that is the cause. A member that left looks the same whether it crashed or was shut down: see `_departed`.
    """
    near = [line for line in lines if _is_within(part, line) and _is_of_queue(part, line)]
    part = _departed(replace(part, cause=_cause(part, near)), near)
    spec = REPEAT_CAUSES[part.cause]
    proving = [line for line in near if line.code in spec.proven_by]
    supporting = [line for line in near if line.code in spec.supported_by]
    entries = [_entry(line) for line in [*proving, *supporting][:LINES_KEPT]]
    confidence = Confidence.PROVEN if proving else part.confidence
    return replace(part, confidence=confidence, evidence=[*part.evidence, *entries]) if entries else part


def _cause(part: RepeatPart, near: Sequence[LoggedLine]) -> RepeatCause:
    if part.cause not in FAILED_ANSWERS or part.confidence is Confidence.PROVEN:
        return part.cause
    codes = {line.code for line in near}
    answered = codes.intersection(REPEAT_CAUSES[RepeatCause.WRONG_ACK].proven_by)
    return RepeatCause.CONSUME_TIMEOUT if LogCode.CONSUME_TIMED_OUT in codes and not answered else part.cause


def _departed(part: RepeatPart, near: Sequence[LoggedLine]) -> RepeatPart:
    """A client that is shut down unregisters, its broker writes that first (RocketMQ 5.4.0, ConsumerGroupInfo), and it
    says itself that it has ended (MQClientInstance.shutdown). A connection that closed without is that of a process
    that ended, or lost its network for good: likely, not proven.
    """
    left = _left(part)
    if part.cause not in DEPARTURES or part.confidence is Confidence.PROVEN:
        return part
    codes = {line.code for line in near if line.client_id in left}
    if codes & SHUT_DOWN:
        return replace(part, cause=RepeatCause.SHUTDOWN_DID_NOT_WAIT, confidence=Confidence.POSSIBLE)
    if LogCode.CHANNEL_CLOSED in codes:
        return replace(part, cause=RepeatCause.CONSUMER_CRASH, confidence=Confidence.LIKELY)
    return part


def _left(part: RepeatPart) -> set[str]:
    return {one["client_id"] for one in part.evidence if one["code"] == RepeatEvidence.OWNER_LEFT}


def _is_within(part: RepeatPart, line: LoggedLine) -> bool:
    after = part.at_us if part.after_us is None else part.after_us
    since = after - (RETRY_DELAY_US if part.is_of_retries else CLOCKS_DIFFER_US)
    lasts = SHUTDOWN_LASTS_US if line.code == LogCode.CLIENT_STOPPED else 0
    return line.at_us >= since and line.began_us <= part.at_us + CLOCKS_DIFFER_US + lasts


def _is_of_queue(part: RepeatPart, line: LoggedLine) -> bool:
    """A line that names another queue belongs to that queue. A retry topic has messages of any topic of the group. The
    line of a client that ended names no group: it counts for the groups that had the client as a member."""
    if line.code == LogCode.CLIENT_STOPPED:
        return line.client_id in _left(part)
    if part.is_of_retries:
        return True
    named = ((line.topic, part.topic), (line.broker, part.broker), (line.queue_id, part.queue_id))
    return all(logged is None or logged == own for logged, own in named)


def without_lines(part: RepeatPart) -> RepeatPart:
    """As it was found, before lines were looked for."""
    return replace(part, evidence=[one for one in part.evidence if one["code"] != RepeatEvidence.LOG_LINE])


def _entry(line: LoggedLine) -> Entry:
    at = iso(from_microseconds(line.began_us))
    return evidence(RepeatEvidence.LOG_LINE, log=str(line.code), lines=line.lines, at=at, client_id=line.client_id)
