"""Sums of each group. One unknown queue makes the lag of its group unknown; the known sum is stored with it.

So does a queue whose broker is behind with its dispatch: its lag is a part of the known sum, as a lower bound.
"""

from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from django.db.models import Q

from consumers.lake.encoded import encoded
from consumers.models import (
    Broker,
    Cluster,
    ConsumerGroup,
    GroupTotal,
    Queue,
    Reset,
    ResetMethod,
    ResetQueue,
    ResetStatus,
    ResetStep,
)
from consumers.polling.flags import retired_topics
from consumers.polling.kind_limits import KindLimits
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.states import MASTER, NO_LAG_REASONS, UnknownReason

from .keyed_rows import WRITE_BATCH, EntityIds, stamp, stamp_each, upsert
from .snapshots import NULL, Columns


# Kinds that change the sums of groups: queues of retired topics, and progress that is not on the brokers.
@dataclass(frozen=True)
class GroupKinds:
    """`retired`: keys (group id << 32 | queue id) of queues. `outside`: groups, by id and name."""

    retired: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    outside: frozenset[tuple[int, str]] = frozenset()

    @classmethod
    def of(cls, cluster: Cluster, now: datetime, limits: KindLimits) -> "GroupKinds":
        """Takes two or three queries; only groups of such a kind are loaded."""
        kept_outside = cluster.groups.filter(outside_store__isnull=False)
        outside = frozenset(kept_outside.values_list("pk", "name"))
        return cls(_retired_keys(cluster, now, limits), outside)

    def marked(self, rows: pa.Table) -> pa.Table:
        """`rows` of a reading, marked: for a group that keeps its progress elsewhere, the offsets on brokers are no
        progress.
        """
        outside = pa.scalar(UnknownReason.OUTSIDE_STORE.value)
        for _, name in sorted(self.outside):
            reasons = pc.if_else(pc.equal(rows["group"], name), outside, rows["unknown_reason"].cast(pa.string()))
            place = rows.schema.get_field_index("unknown_reason")
            rows = rows.set_column(place, rows.schema.field(place), encoded(reasons))
        return rows


def _retired_keys(cluster: Cluster, now: datetime, limits: KindLimits) -> np.ndarray:
    groups = cluster.groups.filter(online=True).exclude(unsubscribed={}).only("online", "unsubscribed")
    by_topic: dict[str, list[int]] = {}
    for group in groups:
        for topic in retired_topics(group, now, limits):
            by_topic.setdefault(topic, []).append(group.pk)
    keys: list[int] = []
    topics = sorted(by_topic)
    for start in range(0, len(topics), WRITE_BATCH):
        found = Queue.objects.filter(topic__cluster=cluster, topic__name__in=topics[start : start + WRITE_BATCH])
        for topic, queue in found.values_list("topic__name", "pk"):
            keys += [group << 32 | queue for group in by_topic[topic]]
    return np.array(keys, np.int64)


NO_KINDS = GroupKinds()
NOT_BEHIND: Mapping[str, int] = {}


CONSUMER, BROKER, MIN, LOST_OFFSET, FIRST_STORED = 0, 1, 2, 4, 6

COUNTED_KINDS = ("normal", "retry", "system")


@dataclass(frozen=True)
class Total:
    queues: int
    unknown_queues: int | None
    never_committed_queues: int
    lost_queues: int
    lag_messages: int | None
    lag_messages_at_least: int | None
    expired_messages: int | None
    first_stored_us: int | None
    retired_queues: int
    dlq_messages: int | None
    unknown_reason: str | None


def totals(
    rows: Columns,
    groups: list[int],
    dead_letters: dict[int, int | None],
    never_read: str | None = None,
    kinds: GroupKinds = NO_KINDS,
    behind: Mapping[str, int] = NOT_BEHIND,
) -> dict[int, Total]:
    """One total per group id in `groups`; `dead_letters` gives each group's dead-letter messages, null if not known.
    `behind`: brokers that are behind with their dispatch, and by how many bytes.

    `never_read` names a broker that was never read: any group may have queues there, so no sum is complete.
    """
    known = _totals(rows, groups, dead_letters, kinds, behind)
    for pk, _ in kinds.outside:
        if pk in known:
            # The group's progress is not on the brokers: like a group that never committed, the group has no part in
            # any sum.
            known[pk] = replace(
                _without_lag(known[pk], UnknownReason.OUTSIDE_STORE), lag_messages_at_least=None, unknown_queues=0
            )
    if never_read is None:
        return known
    return {pk: replace(_without_lag(total, never_read), unknown_queues=None) for pk, total in known.items()}


def _without_lag(total: Total, reason: str) -> Total:
    return replace(total, lag_messages=None, expired_messages=None, first_stored_us=None, unknown_reason=reason)


def _totals(
    rows: Columns,
    groups: list[int],
    dead_letters: dict[int, int | None],
    kinds: GroupKinds,
    behind: Mapping[str, int],
) -> dict[int, Total]:
    size = max(groups, default=0) + 1
    is_retired = np.isin(rows.keys, kinds.retired)
    retired = np.bincount(rows.groups[is_retired], minlength=size).tolist()
    counted = rows.take(rows.kinds.is_in(COUNTED_KINDS) & ~is_retired)
    group = counted.groups
    known = counted.reasons.is_in([None])
    known &= (counted.offsets[:, CONSUMER] != NULL) & (counted.offsets[:, BROKER] != NULL)
    never = counted.reasons.is_in([UnknownReason.NEVER_COMMITTED])
    lost = counted.reasons.is_in([UnknownReason.OFFSET_LOST])
    unknown = ~known & ~counted.reasons.is_in(NO_LAG_REASONS)
    bound = known & counted.brokers.is_in(behind)
    lag = np.zeros(size, np.int64)
    np.add.at(lag, group[known], counted.offsets[known, BROKER] - counted.offsets[known, CONSUMER])
    inexact = unknown | bound
    chosen_rows = {
        "all": slice(None),
        "unknown": unknown,
        "inexact": inexact,
        "never": never,
        "lost": lost,
        "known": known,
    }
    count = {name: np.bincount(group[chosen], minlength=size).tolist() for name, chosen in chosen_rows.items()}
    # A loss takes precedence as a reason over a failed read, and that over a lower bound.
    reasons = _first_reasons(counted.take(never)) | _first_reasons(_bounds(counted.take(bound), behind))
    reasons |= _first_reasons(counted.take(unknown)) | _first_reasons(counted.take(lost))
    lags, expired = lag.tolist(), _expired(counted.take(known), size)
    first_stored = _first_stored(counted.take(known), size)
    return {
        pk: Total(
            queues=count["all"][pk],
            unknown_queues=count["inexact"][pk],
            never_committed_queues=count["never"][pk],
            lost_queues=count["lost"][pk],
            lag_messages=lags[pk] if count["known"][pk] and not count["inexact"][pk] else None,
            lag_messages_at_least=lags[pk] if count["known"][pk] else None,
            expired_messages=expired[pk] if count["known"][pk] and not count["unknown"][pk] else None,
            first_stored_us=first_stored[pk],
            retired_queues=retired[pk],
            dlq_messages=dead_letters.get(pk),
            unknown_reason=None
            if count["known"][pk] and not count["inexact"][pk]
            else reasons.get(pk, UnknownReason.RETIRED_ONLY if retired[pk] else UnknownReason.NO_OFFSETS),
        )
        for pk in groups
    }


def _expired(known: Columns, size: int) -> list[int | None]:
    """Expired unconsumed messages per group; null if the min offset of a queue with lag is not known."""
    consumer, end, least = (known.offsets[:, column] for column in (CONSUMER, BROKER, MIN))
    has_min = least != NULL
    gone = np.zeros(size, np.int64)
    np.add.at(gone, known.groups[has_min], np.maximum(least[has_min] - consumer[has_min], 0))
    in_doubt = np.bincount(known.groups[~has_min & (consumer < end)], minlength=size).astype(bool)
    return [None if doubt else count for count, doubt in zip(gone.tolist(), in_doubt.tolist(), strict=True)]


def _first_stored(known: Columns, size: int) -> list[int | None]:
    """When the first unconsumed message of each group was stored; null if that of a queue with lag is not known."""
    behind = known.take(known.offsets[:, CONSUMER] < known.offsets[:, BROKER])
    none = np.iinfo(np.int64).max
    first = np.full(size, none)
    # The number for an unknown time is below all others.
    np.minimum.at(first, behind.groups, behind.offsets[:, FIRST_STORED])
    return [None if at in (none, NULL) else at for at in first.tolist()]


def _bounds(rows: Columns, behind: Mapping[str, int]) -> Columns:
    """`rows` with the reason why each lag is a lower bound."""
    for name, behind_bytes in behind.items():
        reason = stored_reason(UnknownReason.DISPATCH_BEHIND, broker=name, behind_bytes=behind_bytes)
        rows = rows.with_reason(rows.brokers.is_in([name]), reason)
    return rows


def _first_reasons(rows: Columns) -> dict[int, str | None]:
    groups, first = np.unique(rows.groups, return_index=True)
    return dict(zip(groups.tolist(), rows.reasons.take(first).to_list(), strict=True))


def write_totals(cluster: Cluster, fresh: dict[int, Total], now: datetime, last_taken_at: datetime | None) -> None:
    """Rewrites the totals that changed. A total that becomes unknown keeps the time of the last complete reading."""
    names = list(Total.__dataclass_fields__)
    stored = {
        row[0]: (dict(zip(names, row[2:], strict=True)), row[1])
        for row in GroupTotal.objects.filter(group__cluster=cluster).values_list("group_id", "last_good_at", *names)
    }
    changed = {pk: total for pk, total in fresh.items() if pk not in stored or stored[pk][0] != vars(total)}
    good_at: list[datetime | None] = []
    for pk, total in changed.items():
        before, last_good_at = stored.get(pk, (None, None))
        good = last_good_at if before is not None and before["unknown_reason"] else last_taken_at
        good_at.append(good if total.unknown_reason and before is not None else None)
    upsert(
        GroupTotal,
        ["group"],
        {
            "group": list(changed),
            **{name: [getattr(total, name) for total in changed.values()] for name in names},
            "last_good_at": good_at,
            "changed_at": [now] * len(changed),
        },
    )


# When each group last consumed, apart from moves by Consumerscope's own resets: written at most once a minute and
# group.

# Which queues a reset may have moved since they were last read: such a move is no consumption.
MAY_HAVE_MOVED = (ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED, ResetStep.READ_BACK)

# The clocks of workers differ a little, and members commit the offset that a broker gave them some seconds later.
LEEWAY = timedelta(seconds=30)


def moved_by_resets(cluster: Cluster, ids: EntityIds, last_read: Mapping[str, datetime]) -> np.ndarray:
    """Keys (group id << 32 | queue id). `last_read`: when each broker was read before this reading.

    Takes one query if no reset is being applied or was applied lately.
    """
    if not last_read:
        return np.empty(0, np.int64)
    lately = Q(status=ResetStatus.APPLYING) | Q(finished_at__gte=min(last_read.values()) - LEEWAY)
    resets = dict(
        Reset.objects.filter(lately, group__cluster=cluster, started_at__isnull=False)
        .order_by()
        .values_list("pk", "group_id")
    )
    if not resets:
        return np.empty(0, np.int64)
    rows = ResetQueue.objects.filter(reset__in=list(resets), step__in=MAY_HAVE_MOVED).exclude(
        method=ResetMethod.NOTHING
    )
    fields = ("reset_id", "topic", "broker", "queue_id", "step", "after_at", "reset__finished_at")
    found = []
    for reset, topic, broker, queue_id, step, after_at, finished_at in rows.order_by().values_list(*fields).iterator():
        queue, read_at = ids.queues.get((topic, broker, queue_id)), last_read.get(broker)
        until = after_at if step == ResetStep.READ_BACK and after_at is not None else finished_at
        # A queue that was read at its target moves on from there by itself.
        if queue is not None and read_at is not None and (until is None or until >= read_at - LEEWAY):
            found.append(resets[reset] << 32 | queue)
    return np.array(found, np.int64)


# A consumer offset that moves forward is consumption. An offset that falls, or that a reset moved, is not. The offsets
# of a group without a member may have been set by someone else: one jump proves nothing, moves in several readings do.

EVERY = timedelta(seconds=60)

# Moves of a group without a member count after READINGS readings that saw a move, two of them in a row, or after
# WITH_PAUSES such readings with pauses between them.
READINGS, WITH_PAUSES = 3, 10


@dataclass
class Moves:
    """`noted`: the stored `moved_at` of each group, up to a minute older than the last move seen.

    `last_read`: when each broker was last read. `just_moved`: groups without a member whose offsets moved in the newest
    reading, long enough after their last member left.
    """

    cluster: Cluster
    noted: dict[int, datetime]
    last_read: dict[str, datetime]
    just_moved: frozenset[int] = field(default_factory=frozenset)

    @classmethod
    def of(cls, cluster: Cluster) -> "Moves":
        masters = Broker.objects.filter(cluster=cluster, broker_id=MASTER)
        noted = {pk: at for pk, at in cluster.groups.values_list("pk", "moved_at") if at is not None}
        read = {name: at for name, at in masters.values_list("name", "last_read_at") if at is not None}
        return cls(cluster, noted, read)

    def note(
        self,
        before: Columns,
        after: Columns,
        ids: EntityIds,
        read: AbstractSet[str],
        now: datetime,
        limits: KindLimits,
    ) -> None:
        """`read`: the brokers that were read for `after`."""
        read_before = {name: self.last_read[name] for name in read & self.last_read.keys()}
        by_resets = moved_by_resets(self.cluster, ids, read_before)
        forward, back = moved_groups(before, after, by_resets)
        seen = self._consuming(forward, set(back), now, limits)
        due = [pk for pk in seen if pk not in self.noted or now - self.noted[pk] >= EVERY]
        stamp(ConsumerGroup.objects.all(), due, moved_at=now)
        self.noted.update(dict.fromkeys(due, now))
        self.last_read.update(dict.fromkeys(read, now))

    def _consuming(self, forward: Sequence[int], back: set[int], now: datetime, limits: KindLimits) -> list[int]:
        """The groups of `forward` whose moves are consumption. For groups without a member, readings with moves are
        counted.
        """
        rows = self.cluster.groups.filter(offline_since__isnull=False).order_by()
        fields = rows.values_list("pk", "offline_since", "moves_offline")
        offline = {pk: (since, moves) for pk, since, moves in fields if since is not None}
        after_members = timedelta(seconds=limits.unlisted_after_seconds)
        found, counted, just_moved = [], {}, set()
        for pk in forward:
            if pk not in offline:
                found.append(pk)
                continue
            since, moves = offline[pk]
            # An offset that falls was set by someone, and so perhaps were the offsets that rise with it.
            if pk in back:
                continue
            is_late = now > since + after_members
            if is_late:
                just_moved.add(pk)
            if pk in self.noted and self.noted[pk] > since + after_members:
                found.append(pk)
                continue
            counted[pk] = (moves + 1,)
            if is_late and _is_enough(moves + 1, is_in_a_row=pk in self.just_moved):
                found.append(pk)
        self.just_moved = frozenset(just_moved)
        stamp_each(ConsumerGroup.objects.all(), ["moves_offline"], counted)
        return found


def _is_enough(moves: int, *, is_in_a_row: bool) -> bool:
    return moves >= (READINGS if is_in_a_row else WITH_PAUSES)


def moved_groups(before: Columns, after: Columns, by_resets: np.ndarray) -> tuple[list[int], list[int]]:
    """Groups with an offset that rose, or that is new on a broker that was read before; and groups with an offset that
    fell. `by_resets`: keys of queues that a reset may have moved; they count for neither.
    """
    if not len(before.keys):
        return [], []
    at, stays = before.find(after.keys)
    was, is_now = before.offsets[at, CONSUMER], after.offsets[:, CONSUMER]
    # An offset that is available again at its old value has not moved.
    forgotten = (was == NULL) & ~before.reasons.is_in([UnknownReason.NEVER_COMMITTED])[at]
    was = np.where(forgotten, before.offsets[at, LOST_OFFSET], was)
    others = ~np.isin(after.keys, by_resets)
    committed = others & (is_now != NULL)
    # The number for an unknown offset is below all others.
    forward, back = committed & stays & (is_now > was), committed & stays & (is_now < was)
    if not stays.all():
        # When a broker is read for the first time, every offset on it is new.
        known = after.brokers.is_in(before.brokers.distinct()) & np.isin(after.groups, before.groups)
        forward |= committed & ~stays & known
    return np.unique(after.groups[forward]).tolist(), np.unique(after.groups[back]).tolist()
