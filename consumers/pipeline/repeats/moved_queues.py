"""Queues that rebalances moved, with who held each before and what became of that member.

Five queries where a rebalance may have had messages redelivered.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from consumers.models import Assignment, Client, Rebalance, RepeatEvent
from consumers.pipeline.durations import Durations
from consumers.vocabulary.reasons import RebalanceCause, RebalanceReason
from consumers.vocabulary.repeats import Confidence, RepeatCause, RepeatEvidence, RepeatSource, RepeatUnknown
from consumers.vocabulary.times import microseconds

from .moved import LastOwner, MovedQueue, OwnerFate, moved_part
from .parts import RepeatPart, evidence
from .set_back import Place, WrittenReset, written_resets

# What was held longer ago has been consumed by others, reset or expired since.
REACH = timedelta(days=2)

OF_BROKERS = {
    RepeatCause.BROKER_CRASH,
    RepeatCause.SLAVE_FAILOVER,
    RepeatCause.OFFSET_FILE_LOST,
    RepeatCause.OFFSET_FILE_CHANGED,
}
GONE = {
    RebalanceCause.GONE: RepeatEvidence.OWNER_LEFT,
    RebalanceCause.SILENT: RepeatEvidence.OWNER_SILENT,
}
LEAVING = {RebalanceCause.LEFT, RebalanceCause.GONE, RebalanceCause.SILENT, RebalanceCause.RESTARTED}

Move = Mapping[str, Any]


def moved_parts(
    rebalances: Sequence[Rebalance], popping: Collection[int], until: datetime, durations: Durations
) -> dict[int, list[RepeatPart]]:
    """By group id; with prefetched topics. Broadcasting members keep offsets of their own: no repeat is found there.
    Members of the groups `popping` hold no queues.
    """
    found: dict[int, list[RepeatPart]] = defaultdict(list)
    for row in rebalances:
        if row.group_id not in popping:
            found[row.group_id] += _unsampled_parts(row, until, durations)
    moves = [(row, topic, move) for row in rebalances for topic, move in row.moves() if _may_repeat(move)]
    if not moves:
        return {group: parts for group, parts in found.items() if parts}
    holders = Holders.of([row for row, _, _ in moves], until, durations)
    for row, topic, move in moves:
        part = moved_part(holders.moved(row, topic, move), durations.repeat_held_seconds)
        if part is not None:
            found[row.group_id].append(part)
    return {group: parts for group, parts in found.items() if parts}


def _unsampled_parts(rebalance: Rebalance, until: datetime, durations: Durations) -> Iterator[RepeatPart]:
    """Returns a part for each topic whose owners nobody knows, because some member never reported what it held, where a
    member left: it may have crashed with any number of messages in flight."""
    patience = timedelta(seconds=durations.rebalance_patience_seconds)
    is_over = rebalance.settled_at is not None or until - rebalance.last_change_at >= patience
    # Members that have yet to be asked for what they hold now are no unknown owners.
    reasons = {RebalanceReason.OWNERS_BEFORE, *([RebalanceReason.OWNERS_AFTER] if is_over else ())}
    gone = [
        evidence(code, client_id=one["client_id"])
        for one in rebalance.evidence
        if (code := GONE.get(one["cause"])) is not None
    ]
    cause = RepeatCause.SHUTDOWN_DID_NOT_WAIT if rebalance.rollout else RepeatCause.CONSUMER_CRASH
    for topic in rebalance.topics.all() if gone else ():
        if topic.unknown.get("replayed_messages") in reasons:
            yield RepeatPart(
                cause=cause,
                confidence=Confidence.POSSIBLE,
                after_us=None if rebalance.started_after is None else microseconds(rebalance.started_after),
                at_us=microseconds(rebalance.started_before),
                topic=topic.topic,
                broker=None,
                queue_id=None,
                low=None,
                high=None,
                unknown=RepeatUnknown.OWNER_NOT_SAMPLED,
                evidence=[*gone, evidence(RepeatEvidence.OWNER_UNKNOWN)],
            )


def _has_moved(move: Move) -> bool:
    return None not in (move["before"], move["after"]) and move["before"] != move["after"]


def _may_repeat(move: Move) -> bool:
    high = move.get("replayed_messages")
    return bool(high) or (high is None and _has_moved(move)) or bool(move.get("doubly_owned_seconds_high"))


@dataclass(frozen=True)
class Holders:
    """The owners of queues, by group and place, and the intervals of members, by group and client id. `shared`: when
    two processes had been found to have one client id. Once one of them is gone, its row no longer shows that."""

    assignments: Mapping[tuple[int, Place], Sequence[Assignment]]
    clients: Mapping[tuple[int, str], Sequence[Client]]
    silent: Collection[tuple[int, str]]
    resets: Mapping[tuple[int, Place], Sequence[WrittenReset]]
    set_back: Mapping[tuple[int, Place], Sequence[tuple[int, RepeatCause]]]
    shared: Mapping[tuple[int, str], Sequence[tuple[datetime, datetime]]]
    slack: timedelta

    @classmethod
    def of(cls, rows: Sequence[Rebalance], until: datetime, durations: Durations) -> "Holders":
        groups = {row.group_id for row in rows}
        first = min(row.started_after or row.started_before for row in rows)
        slack = timedelta(seconds=durations.replay_after_move_seconds)
        set_back, shared = _earlier_events(groups, first - slack)
        return cls(
            assignments=_assignments(groups, first - REACH, until),
            clients=_clients(groups, first - REACH, until),
            silent=set(_silent(groups, first - REACH)),
            resets=written_resets(groups, first, until),
            set_back=set_back,
            shared=shared,
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
        begun, end = row.started_after or row.started_before, row.settled_at or row.last_change_at
        for client_id in (*(move["before"] or ()), *(move["after"] or ())):
            key = row.group_id, client_id
            if any(one.duplicated_since and one.duplicated_since <= end for one in self.clients.get(key, ())):
                return client_id
            spans = self.shared.get(key, ())
            if any(since - self.slack <= end and until + self.slack >= begun for since, until in spans):
                return client_id
        return None

    def _was_set_back(self, row: Rebalance, place: Place, is_taken_over: bool, owner: LastOwner | None) -> bool:
        begun, ended = row.started_after or row.started_before, row.settled_at or row.last_change_at
        key = row.group_id, place
        if any(one.since <= ended and one.until >= begun for one in self.resets.get(key, ())):
            return True
        since_us, until_us = microseconds(begun - self.slack), microseconds(ended + self.slack)
        causes = {cause for at_us, cause in self.set_back.get(key, ()) if since_us <= at_us <= until_us}
        if is_taken_over or (owner is not None and owner.fate != OwnerFate.STAYED):
            # A broker that is away loses its members, too: what it lost is no doing of theirs.
            return not causes.isdisjoint(OF_BROKERS)
        return bool(causes)


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


SetBack = dict[tuple[int, Place], list[tuple[int, RepeatCause]]]
Shared = dict[tuple[int, str], list[tuple[datetime, datetime]]]


def _earlier_events(groups: Collection[int], since: datetime) -> tuple[SetBack, Shared]:
    """Of what earlier runs found: queues whose offsets went back, and client ids that two processes had."""
    set_back: SetBack = defaultdict(list)
    shared: Shared = defaultdict(list)
    is_wanted = Q(source=RepeatSource.OFFSETS) | Q(cause=RepeatCause.DUPLICATE_CLIENT_ID)
    for event in RepeatEvent.objects.filter(is_wanted, group__in=groups, last_at__gte=since):
        if event.cause == RepeatCause.DUPLICATE_CLIENT_ID:
            for one in event.evidence:
                if one["code"] == RepeatEvidence.SHARED_CLIENT_ID:
                    shared[event.group_id, one["client_id"]].append((event.started_at, event.last_at))
            continue
        for one in event.parts:
            place = one["topic"], one["broker"], one["queue_id"]
            set_back[event.group_id, place].append((one["at_us"], RepeatCause(event.cause)))
    return set_back, shared
