"""How many messages of a queue would be redelivered if its consumer crashed now, or its broker, or both.

From three places: the offset in the broker's memory, the one in its file, and what the owners said they hold. Numbers
count offsets: where a filter drops messages between them, fewer are consumed again. An end that comes out the wrong
way round is an anomaly with a code and no number. Reasons and notes are stored reasons, or the words of a caller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from consumers.rocketmq.bodies.client_bodies import MOST_THREADS
from consumers.vocabulary.offset_files import ExposureReason
from consumers.vocabulary.reasons import stored_reason

NOT_SAMPLED = stored_reason(ExposureReason.NOT_SAMPLED)
# A message that was not finished for so long holds the offset while others are finished behind it.
STANDS = timedelta(seconds=30)


@dataclass(frozen=True)
class Stored:
    """An offset that a member would go on from, as it was at `at`. None: `reason` says why.

    `is_empty`: the store was read, and has none.
    """

    offset: int | None
    at: datetime | None = None
    reason: str | None = None
    is_empty: bool = False


@dataclass(frozen=True)
class Held:
    """What one owner said of the queue: what it holds is what it has not finished. A count of 0: it holds nothing,
    `commit_offset` is all. None: not sampled. `head_since`: since when the first message it holds is this one.
    """

    client_id: str
    reported_at: datetime
    commit_offset: int | None
    cached_min: int | None
    cached_max: int | None
    cached_count: int | None
    head_since: datetime | None = None
    is_orderly: bool = False

    @property
    def overtakes(self) -> bool:
        """Its first message stands, and none waits for a thread: it may have finished all that is behind the last."""
        if self.head_since is None or self.cached_count is None or self.is_orderly:
            return False
        return self.reported_at - self.head_since >= STANDS and self.cached_count <= MOST_THREADS


@dataclass(frozen=True)
class Exposure:
    """Messages again: if the consumer dies between `low` and `high`, of which `finished_out_of_order` at most are
    finished beyond the first unfinished one; `broker_dies` if the broker dies and the owners keep the queue;
    `both_die_*` if neither stays. Every null has its reason in `unknown`. `as_of`: when the owners spoke.
    """

    low: int | None = field(default=None, metadata={"help": "If the consumer dies: at least"})
    high: int | None = field(default=None, metadata={"help": "If the consumer dies: at most"})
    finished_out_of_order: int | None = field(
        default=None, metadata={"help": "Finished beyond the first unfinished one, at most; lies between low and high"}
    )
    broker_dies: int | None = field(
        default=None, metadata={"help": "If the broker dies and the owners keep the queue: they commit again"}
    )
    both_die_low: int | None = field(default=None, metadata={"help": "If both die: at least"})
    both_die_high: int | None = field(default=None, metadata={"help": "If both die, from the broker's file: at most"})
    as_of: datetime | None = field(default=None, metadata={"help": "When the owners spoke; null with the numbers"})
    unknown: Mapping[str, str] = field(default_factory=dict, metadata={"inside": True})
    notes: tuple[str, ...] = ()


NUMBERS = ("low", "high", "finished_out_of_order", "broker_dies", "both_die_low", "both_die_high")


@dataclass(frozen=True)
class _Span:
    """What owners hold, [least, end); `reported_at`: when the one that spoke longest ago did."""

    least: int
    end: int
    finished_out_of_order: int
    reported_at: datetime


def exposure(
    memory: Stored,
    file: Stored,
    owners: Sequence[Held],
    no_owner: str,
    now: datetime,
    max_age: timedelta,
    broker_offset: int | None = None,
) -> Exposure:
    """`memory` and `file` are the broker's. `no_owner` says why there is none; owners that spoke longer than `max_age`
    before `now` say nothing about now. Of several owners the least and the greatest count. Behind a first message that
    stands, all messages up to `broker_offset` may be finished and come again."""
    if memory.is_empty and owners and all(_has_begun_nothing(owner, now, max_age) for owner in owners):
        return Exposure(0, 0, 0, 0, 0, 0, as_of=min(owner.reported_at for owner in owners))
    spans_or_reasons = [_span_or_reason(owner, now, max_age, broker_offset) for owner in owners]
    reasons = [why for why in spans_or_reasons if isinstance(why, str)]
    if reasons or not spans_or_reasons:
        return Exposure(unknown=dict.fromkeys(NUMBERS, reasons[0] if reasons else no_owner))
    span = _united([span for span in spans_or_reasons if isinstance(span, _Span)])
    ends = {
        "low": _distance(memory, span.least, span, ExposureReason.COMMITTED_PAST_CLIENT),
        "high": _distance(memory, span.end, span, ExposureReason.COMMITTED_PAST_CLIENT),
        "finished_out_of_order": _out_of_order(span),
        # It commits again within an interval what it has in memory.
        "broker_dies": (0, None),
        # The file moves on between two looks at it, but never past the broker's memory: that gives the lower end.
        "both_die_low": _distance(_greater(memory, file), span.least, span, ExposureReason.COMMITTED_PAST_CLIENT),
        "both_die_high": _distance(file, span.end, span, ExposureReason.FILE_PAST_CLIENT),
    }
    return Exposure(
        **{name: number for name, (number, _) in ends.items()},
        as_of=span.reported_at,
        unknown={name: why for name, (_, why) in ends.items() if why is not None},
        notes=_notes(owners),
    )


def _has_begun_nothing(owner: Held, now: datetime, max_age: timedelta) -> bool:
    """It holds nothing, and its memory would have an offset if it had consumed something."""
    return owner.cached_count == 0 and owner.commit_offset is None and now - owner.reported_at <= max_age


def _span_or_reason(owner: Held, now: datetime, max_age: timedelta, broker_offset: int | None) -> _Span | str:
    """What one owner holds, or why that is not known."""
    if owner.cached_count is None:
        return NOT_SAMPLED
    age = now - owner.reported_at
    if age > max_age:
        spans = {"age_seconds": age.total_seconds(), "most_seconds": max_age.total_seconds()}
        return stored_reason(ExposureReason.REPORT_TOO_OLD, client=owner.client_id, **spans)
    if owner.cached_min is not None and owner.cached_max is not None:
        end = owner.cached_max + 1
        if owner.overtakes:
            end = max(end, broker_offset or 0)
        return _Span(owner.cached_min, end, end - owner.cached_min - owner.cached_count, owner.reported_at)
    if owner.cached_count:
        return stored_reason(ExposureReason.HELD_UNSAID, client=owner.client_id)
    if owner.commit_offset is None:
        return stored_reason(ExposureReason.HOLDS_NOTHING, client=owner.client_id)
    return _Span(owner.commit_offset, owner.commit_offset, 0, owner.reported_at)


def _united(spans: Sequence[_Span]) -> _Span:
    return _Span(
        least=min(span.least for span in spans),
        end=max(span.end for span in spans),
        finished_out_of_order=sum(span.finished_out_of_order for span in spans),
        reported_at=min(span.reported_at for span in spans),
    )


def _distance(start: Stored, end: int, span: _Span, anomaly: ExposureReason) -> tuple[int | None, str | None]:
    if start.offset is None:
        return None, start.reason or stored_reason(ExposureReason.OFFSET_UNREAD)
    if end >= start.offset:
        return end - start.offset, None
    if start.at is not None and span.reported_at < start.at:
        earlier = (start.at - span.reported_at).total_seconds()
        return None, stored_reason(ExposureReason.CLIENT_MOVED_ON, earlier_seconds=earlier)
    return None, stored_reason(anomaly, stored=str(start.offset), client=str(end))


def _greater(memory: Stored, file: Stored) -> Stored:
    if memory.offset is None or file.offset is None:
        return memory if memory.offset is None else file
    return file if file.offset > memory.offset else memory


def _out_of_order(span: _Span) -> tuple[int | None, str | None]:
    if span.finished_out_of_order < 0:
        return None, stored_reason(ExposureReason.MORE_HELD_THAN_OFFSETS)
    return span.finished_out_of_order, None


def _notes(owners: Sequence[Held]) -> tuple[str, ...]:
    if len(owners) < 2:
        return ()
    return (stored_reason(ExposureReason.SEVERAL_HOLDERS, clients=len(owners)),)
