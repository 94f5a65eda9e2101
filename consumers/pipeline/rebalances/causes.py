"""Why a group rebalanced, as far as what was read supports it. Several causes may hold; none is guessed.

Each cause has its entries of evidence: facts by name, without those that are unknown.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.segments import MICROSECONDS
from consumers.vocabulary.reasons import RebalanceCause
from consumers.vocabulary.times import from_microseconds

from .changes import FailedAnswer, MemberChange
from .events import ObservedRebalance
from .history import MemberInterval, TopicQueue

# Its running info failed for so long before it went: RocketMQ 5.4.0, ClientHousekeepingService and ConsumerManager,
# drop a connection without heart-beats after 120 s.
SILENT_SECONDS = 90
# A queue that nobody pulled from for so long is let go and taken anew (RocketMQ 5.4.0, ProcessQueue.isPullExpired).
STUCK_SECONDS = 120

SECOND_PROCESS = "a second process under this id"
UNKNOWN = {"cause": RebalanceCause.UNKNOWN}

Entry = dict[str, Any]


@dataclass(frozen=True)
class Causes:
    """`cause`: codes with ", " between, the most telling first. `evidence`: JSON text, a list of entries. `dated_us`:
    when, by members' own clocks; null where none tells of a moment between the two readings."""

    cause: str
    evidence: str
    dated_us: int | None


def causes_of(rebalance: ObservedRebalance, durations: Durations) -> Causes:
    members = MemberTurnover.of(rebalance)
    changes = rebalance.member_changes
    near_us = rebalance.started_before_us - round(durations.rebalance_patience_seconds * MICROSECONDS)
    # In the order in which they are named.
    entries: Mapping[str, Sequence[Entry]] = {
        RebalanceCause.JOINED: [*_joined(members)],
        RebalanceCause.GONE: [_left(one) for one in members.left if not _was_silent(one, members.failed)],
        RebalanceCause.SILENT: [*_silent(members)],
        RebalanceCause.RECONNECTED: [*_reconnected(members)],
        RebalanceCause.RESTARTED: [*_restarted(members, changes)],
        RebalanceCause.QUEUE_COUNT: [*_queue_count(rebalance, near_us)],
        RebalanceCause.SUBSCRIPTION: [_subscription(one) for one in changes if one.subscription_changed],
        RebalanceCause.STRATEGY: [_strategy(one) for one in changes if one.strategy_changed],
        RebalanceCause.BROKER: [*_broker(rebalance, near_us)],
        RebalanceCause.PULL_STUCK: [*_pull_stuck(changes)],
    }
    named = [name for name, found in entries.items() if found]
    evidence = [_known({"cause": name, **entry}) for name in named for entry in entries[name]]
    return Causes(", ".join(named) or RebalanceCause.UNKNOWN, _text(evidence or [UNKNOWN]), _dated(rebalance))


@dataclass(frozen=True)
class MemberTurnover:
    """By the intervals in which brokers listed them. `joined`: without one right before under the same id; `left`:
    without one after; `returned`: pairs of the old and the new, another connection or another start under one id;
    `doubled`: a second process took the id."""

    joined: list[MemberInterval]
    left: list[MemberInterval]
    returned: list[tuple[MemberInterval, MemberInterval]]
    doubled: list[MemberInterval]
    failed: list[FailedAnswer]

    @classmethod
    def of(cls, rebalance: ObservedRebalance) -> "MemberTurnover":
        first, last, intervals = rebalance.started_before_us, rebalance.last_change_us, rebalance.history.intervals
        before = _by_id(one for one in intervals if one.seen_us < first and _is_there(one, first - 1))
        after = [one for one in intervals if one.seen_us <= last and _is_there(one, last)]
        begun = [one for one in intervals if first <= one.seen_us <= last]
        ended = [one for one in intervals if one.gone_us is not None and first <= one.gone_us <= last]
        earliest = _by_id(sorted(begun, key=lambda one: one.seen_us))
        latest = _by_id(sorted(ended, key=lambda one: -(one.gone_us or 0)))
        returned = [(before[one.client_id], one) for one in after if one.seen_us >= first and one.client_id in before]
        joined = [
            one for one in begun if one.client_id not in before and one.seen_us == earliest[one.client_id].seen_us
        ]
        after_ids = {one.client_id for one in after}
        left = [one for one in ended if one.client_id not in after_ids and one.gone_us == latest[one.client_id].gone_us]
        # Without both start times nobody knows whether it is the same process: one left and one joined.
        unclear = [(old, new) for old, new in returned if _same_start(old, new) is None]
        doubled = [
            one for one in intervals if one.doubled_us is not None and first <= one.doubled_us <= rebalance.end_us
        ]
        return cls(
            [*joined, *(new for _, new in unclear)],
            [*left, *(old for old, _ in unclear)],
            returned,
            doubled,
            rebalance.failed_answers if ended or unclear else [],
        )


def _by_id(intervals: Iterator[MemberInterval] | Sequence[MemberInterval]) -> dict[str, MemberInterval]:
    """The first of each id."""
    found: dict[str, MemberInterval] = {}
    for one in intervals:
        found.setdefault(one.client_id, one)
    return found


def _is_there(one: MemberInterval, at_us: int) -> bool:
    return one.gone_us is None or one.gone_us > at_us


def _same_start(old: MemberInterval, new: MemberInterval) -> bool | None:
    """None where one of them was not reported; and where the earlier one came later: another process had the id too."""
    if old.started_us is None or new.started_us is None or new.started_us < old.started_us:
        return None
    return new.started_us == old.started_us


def _joined(members: MemberTurnover) -> Iterator[Entry]:
    for one in members.joined:
        yield {"client_id": one.client_id, "address": one.address, "at": _moment(one.seen_us)}
    for one in members.doubled:
        yield {"client_id": one.client_id, "as": SECOND_PROCESS, "at": _moment(one.doubled_us)}


def _left(one: MemberInterval) -> Entry:
    return {
        "client_id": one.client_id,
        "address": one.address,
        "last_seen": _moment(one.last_seen_us),
        "at": _moment(one.gone_us),
    }


def _silent(members: MemberTurnover) -> Iterator[Entry]:
    for one in members.left:
        if _was_silent(one, members.failed):
            yield {**_left(one), "silent_since": _moment(_failing_since(one, members.failed))}


def _was_silent(one: MemberInterval, failed: Sequence[FailedAnswer]) -> bool:
    since_us = _failing_since(one, failed)
    return since_us is not None and one.gone_us is not None and one.gone_us - since_us >= SILENT_SECONDS * MICROSECONDS


def _failing_since(one: MemberInterval, failed: Sequence[FailedAnswer]) -> int | None:
    """Since when it did not answer any more; None where it last did, or nobody asked."""
    if one.gone_us is None:
        return None
    own = (
        answer.since_us
        for answer in failed
        if answer.client_id == one.client_id and one.seen_us <= answer.at_us <= one.gone_us
    )
    return max(
        (since for since in own if since is not None and (one.answered_us is None or since > one.answered_us)),
        default=None,
    )


def _reconnected(members: MemberTurnover) -> Iterator[Entry]:
    for old, new in members.returned:
        if _same_start(old, new) is True:
            yield {
                "client_id": new.client_id,
                "before": old.address,
                "after": new.address,
                "at": _moment(new.seen_us),
            }


def _restarted(members: MemberTurnover, changes: Sequence[MemberChange]) -> Iterator[Entry]:
    """By its interval, or by its own answers where brokers still list the same connection."""
    for old, new in members.returned:
        if _same_start(old, new) is False:
            yield {
                "client_id": new.client_id,
                "address": new.address,
                "before": _moment(old.started_us),
                "after": _moment(new.started_us),
                "at": _moment(new.seen_us),
            }
    # What a member that came anew reported before it had gone is explained by its coming.
    explained = {new.client_id for _, new in members.returned} | {one.client_id for one in members.joined}
    for change in changes:
        if change.restarted and change.client_id not in explained:
            yield {
                "client_id": change.client_id,
                "before": _moment(change.previous.started_us),
                "after": _moment(change.answer.started_us),
                "at": _moment(change.at_us),
            }


def _queue_count(rebalance: ObservedRebalance, near_us: int) -> Iterator[Entry]:
    """By topic, the queues that appeared, or became readable or unreadable, before members can have noticed: those that
    nobody held yet, or somebody held still."""
    last_us, topics = rebalance.end_us, set(rebalance.topics)
    queues = [one for one in rebalance.history.queues if one.topic in topics]
    changed = [one for one in queues if one.was_readable(last_us) != one.was_readable(near_us)]
    held = rebalance.held_before if changed else None
    news = [one for one in changed if held is None or (one.place in held) != one.was_readable(last_us)]
    for topic in sorted({one.topic for one in news}):
        yield {
            "topic": topic,
            "before": sum(one.topic == topic and one.was_readable(near_us) for one in queues),
            "after": sum(one.topic == topic and one.was_readable(last_us) for one in queues),
            "at": _moment(min((at for one in news if one.topic == topic for at in _noticed(one)), default=None)),
        }


def _noticed(queue: TopicQueue) -> list[int]:
    known = [at for at in (queue.first_seen_us, queue.readable_us) if at is not None]
    return [max(known)] if known else []


def _subscription(change: MemberChange) -> Entry:
    def lines(of: str | None, other: str | None) -> str:
        others = set((other or "").split("\n"))
        return "; ".join(dict.fromkeys(line for line in (of or "").split("\n") if line not in others))

    return {
        "client_id": change.client_id,
        "before": lines(change.previous.subscription, change.answer.subscription),
        "after": lines(change.answer.subscription, change.previous.subscription),
        "at": _moment(change.at_us),
    }


def _strategy(change: MemberChange) -> Entry:
    return {
        "client_id": change.client_id,
        "before": change.previous.strategy,
        "after": change.answer.strategy,
        "at": _moment(change.at_us),
    }


def _broker(rebalance: ObservedRebalance, near_us: int) -> Iterator[Entry]:
    """Brokers of its topics that could not be read any more, or again, around it."""
    for one in rebalance.history.row["brokers"] or ():
        if near_us <= one["at_us"] <= rebalance.last_change_us:
            yield {"broker": one["broker"], "read_again_at" if one["is_read"] else "at": _moment(one["at_us"])}


def _pull_stuck(changes: Sequence[MemberChange]) -> Iterator[Entry]:
    """A member took the same queues again, and had long pulled nothing from one of them."""
    for change in changes:
        if not change.touched or change.moved or change.restarted or change.subscription_changed:
            continue
        for (topic, broker, queue_id), last_pull_us in change.previous.queues:
            if last_pull_us is not None and last_pull_us <= change.at_us - STUCK_SECONDS * MICROSECONDS:
                yield {
                    "client_id": change.client_id,
                    "topic": topic,
                    "broker": broker,
                    "queue_id": queue_id,
                    "last_pull": _moment(last_pull_us),
                    "at": _moment(change.at_us),
                }


def _dated(rebalance: ObservedRebalance) -> int | None:
    after_us = rebalance.started_after_us
    if after_us is None:
        return None
    return min((at for at in rebalance.versions if after_us < at <= rebalance.started_before_us), default=None)


def _moment(us: int | None) -> str | None:
    """As ISO 8601 says it, in UTC."""
    return None if us is None else from_microseconds(us).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _known(entry: Entry) -> Entry:
    return {name: value for name, value in entry.items() if value is not None}


_text: Callable[[object], str] = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
