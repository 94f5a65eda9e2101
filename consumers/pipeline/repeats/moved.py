"""Queues that a rebalance gave to another owner: what came again, and why.

The new owner goes on from what the broker has. What the old one had taken beyond that comes again. Bounds are those of
the rebalance (pipeline/rebalances/queue_costs.py); here only the cause is told, by what became of the old owner.
RocketMQ 5.4.0, DefaultMQPushConsumerImpl.shutdown: a client that is shut down commits what it has in memory first, so
an offset behind that memory proves that nobody shut it down.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from consumers.models import Assignment, Client, Rebalance, RepeatEvent
from consumers.pipeline.durations import Durations
from consumers.pipeline.slices import microseconds
from consumers.vocabulary.reasons import RebalanceCause
from consumers.vocabulary.repeats import Confidence, RepeatCause, RepeatEvidence, RepeatSource, RepeatUnknown

from .parts import Entry, RepeatPart, evidence
from .set_back import Place, WrittenReset, written_resets


class OwnerFate(StrEnum):
    """What became of the process that held the queue before."""

    LEFT = "left"
    SILENT = "silent"  # brokers dropped it after 120 s without a heartbeat
    RECONNECTED = "reconnected"  # it left, and the same process came back
    STAYED = "stayed"


@dataclass(frozen=True)
class LastOwner:
    """Who held the queue before, as it last reported: the span of offsets that it held, how many messages of it were
    unfinished, and for how long the first of them had been."""

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
class MoveVerdict:
    cause: RepeatCause
    confidence: Confidence
    evidence: Sequence[Entry]


Rule = Callable[[MovedQueue, float], MoveVerdict | None]


def moved_part(moved: MovedQueue, held_seconds: float) -> RepeatPart | None:
    """None where nothing came again. The first rule that holds names the cause."""
    verdict = next(found for rule in RULES if (found := rule(moved, held_seconds)) is not None)
    is_doubled = verdict.cause in (RepeatCause.TWO_OWNERS, RepeatCause.DUPLICATE_CLIENT_ID)
    if not is_doubled and (moved.was_set_back or not _may_have_repeated(moved)):
        return None
    # What two owners both consumed goes on beyond where the second began: nobody counts that.
    high = None if is_doubled else moved.high
    unknown = RepeatUnknown.OVERLAP_NOT_COUNTED if is_doubled else RepeatUnknown.OWNER_NOT_SAMPLED
    return RepeatPart(
        cause=verdict.cause,
        confidence=verdict.confidence,
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
        evidence=verdict.evidence,
    )


def _may_have_repeated(moved: MovedQueue) -> bool:
    """A queue that nobody is known to have held before is no repeat for being taken."""
    return bool(moved.high) or (moved.high is None and moved.has_moved and moved.owner is not None)


def _shared_id(moved: MovedQueue, held_seconds: float) -> MoveVerdict | None:
    if moved.shared_id is None or not moved.doubly_owned_seconds_high:
        return None
    shared = evidence(RepeatEvidence.SHARED_CLIENT_ID, client_id=moved.shared_id)
    return MoveVerdict(RepeatCause.DUPLICATE_CLIENT_ID, Confidence.PROVEN, [shared])


def _two_owners(moved: MovedQueue, held_seconds: float) -> MoveVerdict | None:
    if not moved.doubly_owned_seconds_high:
        return None
    # Members are asked one after the other: one reading alone may show a queue twice that went from one to the other.
    is_sure = moved.doubly_owned_seconds_low > 0
    bounds = {"seconds_low": moved.doubly_owned_seconds_low, "seconds_high": moved.doubly_owned_seconds_high}
    seen = evidence(RepeatEvidence.TWO_OWNERS_SEEN, **bounds)
    return MoveVerdict(RepeatCause.TWO_OWNERS, Confidence.PROVEN if is_sure else Confidence.LIKELY, [seen])


def _crashed_out_of_order(moved: MovedQueue, held_seconds: float) -> MoveVerdict | None:
    """Most of what came again had been finished: one message in front kept the offset back."""
    owner = moved.owner
    if owner is None or not _is_gone(owner) or not _held_long(owner, held_seconds):
        return None
    finished = _finished_out_of_order(owner, moved.high)
    if owner.is_orderly or not finished or 2 * finished < (moved.high or 0):
        return None
    reach = max(owner.held_span or 0, moved.high or 0)
    span = evidence(RepeatEvidence.HELD_OUT_OF_ORDER, finished=finished, span=reach)
    return MoveVerdict(
        RepeatCause.FINISHED_OUT_OF_ORDER, Confidence.LIKELY, [*_of_gone(owner), _head(owner), span, *_gap(moved)]
    )


def _finished_out_of_order(owner: LastOwner, high: int | None) -> int | None:
    """At most: offsets that a tag filter passed over count, too. What is finished behind the last held message is not
    in the span of what is held, but in the high bound."""
    if owner.held_span is None or owner.held_count is None:
        return None
    return max(owner.held_span, high or 0) - owner.held_count


def _restarted_in_local_retry(moved: MovedQueue, held_seconds: float) -> MoveVerdict | None:
    """An orderly member tries a message that fails again on the spot, and commits nothing meanwhile."""
    owner = moved.owner
    if owner is None or not _is_gone(owner) or not owner.is_orderly or not _held_long(owner, held_seconds):
        return None
    return MoveVerdict(
        RepeatCause.LOCAL_RETRY_RESTART, Confidence.LIKELY, [*_of_gone(owner), _head(owner), *_gap(moved)]
    )


def _crashed(moved: MovedQueue, held_seconds: float) -> MoveVerdict | None:
    owner = moved.owner
    if owner is None or not _is_gone(owner):
        return None
    if moved.low:
        # A member that joined meanwhile may have started before the old owner committed for the last time.
        is_sure = owner.fate == OwnerFate.LEFT and not moved.has_other_causes
        confidence = Confidence.PROVEN if is_sure else Confidence.LIKELY
        return MoveVerdict(RepeatCause.CONSUMER_CRASH, confidence, [*_of_gone(owner), *_gap(moved)])
    if moved.is_rollout:
        found = [*_of_gone(owner), evidence(RepeatEvidence.ALL_RESTARTED), *_gap(moved)]
        return MoveVerdict(RepeatCause.SHUTDOWN_DID_NOT_WAIT, Confidence.POSSIBLE, found)
    return MoveVerdict(RepeatCause.CONSUMER_CRASH, Confidence.POSSIBLE, [*_of_gone(owner), *_gap(moved)])


def _moved_on(moved: MovedQueue, held_seconds: float) -> MoveVerdict:
    """Its old owner is there, or nobody knows who that was: the offset was behind what the old owner had."""
    owner = moved.owner
    if owner is None:
        found = [evidence(RepeatEvidence.OWNER_UNKNOWN), *_gap(moved)]
        return MoveVerdict(RepeatCause.STALE_OFFSET, Confidence.POSSIBLE, found)
    is_back = owner.fate == OwnerFate.RECONNECTED
    code = RepeatEvidence.OWNER_RECONNECTED if is_back else RepeatEvidence.OWNER_STAYED
    confidence = Confidence.PROVEN if moved.low else Confidence.POSSIBLE
    found = [evidence(code, client_id=owner.client_id), *_gap(moved)]
    return MoveVerdict(RepeatCause.STALE_OFFSET, confidence, found)


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


# Queues that rebalances moved, with who held each before and what became of that member.
#
# Five queries where a rebalance may have had messages redelivered.

# What was held longer ago has been consumed by others, reset or expired since.
REACH = timedelta(days=2)

LEAVING = {RebalanceCause.LEFT, RebalanceCause.GONE, RebalanceCause.SILENT, RebalanceCause.RESTARTED}

Move = Mapping[str, Any]


def moved_parts(rebalances: Sequence[Rebalance], until: datetime, durations: Durations) -> dict[int, list[RepeatPart]]:
    """By group id; with prefetched topics. Broadcasting members keep offsets of their own: no repeat is found there."""
    moves = [
        (row, topic.topic, move)
        for row in rebalances
        for topic in row.topics.all()
        for move in topic.moves
        if _may_repeat(move)
    ]
    if not moves:
        return {}
    holders = Holders.of([row for row, _, _ in moves], until, durations)
    found: dict[int, list[RepeatPart]] = defaultdict(list)
    for row, topic, move in moves:
        part = moved_part(holders.moved(row, topic, move), durations.repeat_held_seconds)
        if part is not None:
            found[row.group_id].append(part)
    return found


def _has_moved(move: Move) -> bool:
    return None not in (move["before"], move["after"]) and move["before"] != move["after"]


def _may_repeat(move: Move) -> bool:
    high = move.get("replayed_messages")
    return bool(high) or (high is None and _has_moved(move)) or bool(move.get("doubly_owned_seconds_high"))


@dataclass(frozen=True)
class Holders:
    """Who held queues, by group and place, and the intervals of members, by group and client id."""

    assignments: Mapping[tuple[int, Place], Sequence[Assignment]]
    clients: Mapping[tuple[int, str], Sequence[Client]]
    silent: Collection[tuple[int, str]]
    resets: Mapping[tuple[int, Place], Sequence[WrittenReset]]
    set_back: Mapping[tuple[int, Place], Sequence[int]]
    slack: timedelta

    @classmethod
    def of(cls, rows: Sequence[Rebalance], until: datetime, durations: Durations) -> "Holders":
        groups = {row.group_id for row in rows}
        first = min(row.started_after or row.started_before for row in rows)
        slack = timedelta(seconds=durations.replay_after_move_seconds)
        return cls(
            assignments=_assignments(groups, first - REACH, until),
            clients=_clients(groups, first - REACH, until),
            silent=set(_silent(groups, first - REACH)),
            resets=written_resets(groups, first, until),
            set_back=_set_back(groups, first - slack),
            slack=slack,
        )

    def moved(self, row: Rebalance, topic: str, move: Move) -> MovedQueue:
        place = (topic, move["broker"], move["queue_id"])
        owner = self._owner(row, place, move)
        has_moved = _has_moved(move)
        # Nobody leaves it to an owner that begins: what sets its offset back is no rebalance.
        is_taken_over = has_moved and bool(move["before"])
        return MovedQueue(
            after_us=None if row.started_after is None else microseconds(row.started_after),
            at_us=microseconds(row.started_before),
            topic=topic,
            broker=move["broker"],
            queue_id=move["queue_id"],
            low=move.get("replayed_messages_low"),
            high=move.get("replayed_messages"),
            from_offset=move.get("replayed_from"),
            until_offset=move.get("replayed_until"),
            has_moved=has_moved,
            doubly_owned_seconds_low=move.get("doubly_owned_seconds_low") or 0.0,
            doubly_owned_seconds_high=move.get("doubly_owned_seconds_high") or 0.0,
            owner=owner,
            shared_id=self._shared_id(row, move),
            is_rollout=row.rollout,
            has_other_causes=not set(row.cause.split(", ")) <= LEAVING,
            was_set_back=self._was_set_back(row, place, is_taken_over, owner),
        )

    def _owner(self, row: Rebalance, place: Place, move: Move) -> LastOwner | None:
        """The last who reported to hold it before, of those that the rebalance names."""
        named = move["before"] or ()
        held = [
            one
            for one in self.assignments.get((row.group_id, place), ())
            if one.seen_since < row.started_before and (not named or one.client_id in named)
        ]
        if not held:
            return None
        last = max(held, key=lambda one: min(one.last_seen, row.started_before))
        interval = self._interval(row, last.client_id)
        is_of_before = last.last_seen <= row.started_before
        has_span = is_of_before and None not in (last.cached_min, last.cached_max)
        return LastOwner(
            client_id=last.client_id,
            fate=self._fate(row, last.client_id, interval),
            held_span=last.cached_max - last.cached_min + 1 if has_span else None,  # type: ignore[operator]
            held_count=last.cached_count if is_of_before else None,
            head_seconds=(last.last_seen - last.head_since).total_seconds()
            if is_of_before and last.head_since is not None
            else None,
            is_orderly=None if interval is None else interval.orderly,
        )

    def _interval(self, row: Rebalance, client_id: str) -> Client | None:
        """The newest that began before the rebalance did."""
        own = [one for one in self.clients.get((row.group_id, client_id), ()) if one.seen_since < row.started_before]
        return max(own, key=lambda one: one.seen_since) if own else None

    def _fate(self, row: Rebalance, client_id: str, interval: Client | None) -> OwnerFate:
        end = row.settled_at or row.last_change_at
        if interval is None or interval.gone_by is None or interval.gone_by > end:
            return OwnerFate.STAYED
        later = (one for one in self.clients[row.group_id, client_id] if one.seen_since > interval.seen_since)
        if any(one.started_at is not None and one.started_at == interval.started_at for one in later):
            return OwnerFate.RECONNECTED
        return OwnerFate.SILENT if (row.group_id, client_id) in self.silent else OwnerFate.LEFT

    def _shared_id(self, row: Rebalance, move: Move) -> str | None:
        end = row.settled_at or row.last_change_at
        shared = (
            one.client_id
            for client_id in (*(move["before"] or ()), *(move["after"] or ()))
            for one in self.clients.get((row.group_id, client_id), ())
            if one.duplicated_since is not None and one.duplicated_since <= end
        )
        return next(shared, None)

    def _was_set_back(self, row: Rebalance, place: Place, is_taken_over: bool, owner: LastOwner | None) -> bool:
        begun, ended = row.started_after or row.started_before, row.settled_at or row.last_change_at
        key = row.group_id, place
        if any(one.since <= ended and one.until >= begun for one in self.resets.get(key, ())):
            return True
        if is_taken_over or (owner is not None and owner.fate != OwnerFate.STAYED):
            return False
        since_us, until_us = microseconds(begun - self.slack), microseconds(ended + self.slack)
        return any(since_us <= at_us <= until_us for at_us in self.set_back.get(key, ()))


def _assignments(
    groups: Collection[int], since: datetime, until: datetime
) -> dict[tuple[int, Place], list[Assignment]]:
    found: dict[tuple[int, Place], list[Assignment]] = defaultdict(list)
    rows = Assignment.objects.filter(group__in=groups, last_seen__gte=since, seen_since__lt=until)
    for row in rows.select_related("queue__topic").order_by("seen_since"):
        found[row.group_id, (row.queue.topic.name, row.queue.broker, row.queue.queue_id)].append(row)
    return found


def _clients(groups: Collection[int], since: datetime, until: datetime) -> dict[tuple[int, str], list[Client]]:
    found: dict[tuple[int, str], list[Client]] = defaultdict(list)
    for row in Client.objects.filter(group__in=groups, last_seen__gte=since, seen_since__lt=until):
        found[row.group_id, row.client_id].append(row)
    return found


def _silent(groups: Collection[int], since: datetime) -> Iterator[tuple[int, str]]:
    rows = Rebalance.objects.filter(
        group__in=groups, started_before__gte=since, cause__contains=RebalanceCause.SILENT.value
    )
    for group, entries in rows.values_list("group_id", "evidence"):
        for one in entries:
            if one["cause"] == RebalanceCause.SILENT:
                yield group, one["client_id"]


def _set_back(groups: Collection[int], since: datetime) -> dict[tuple[int, Place], list[int]]:
    found: dict[tuple[int, Place], list[int]] = defaultdict(list)
    rows = RepeatEvent.objects.filter(group__in=groups, source=RepeatSource.OFFSETS, last_at__gte=since)
    for group, parts in rows.values_list("group_id", "parts"):
        for one in parts:
            found[group, (one["topic"], one["broker"], one["queue_id"])].append(one["at_us"])
    return found
