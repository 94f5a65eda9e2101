"""When each group last consumed, apart from moves by Consumerscope's own resets: written at most once a minute and
group.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np
from django.db.models import Q

from consumers.models import Broker, Cluster, ConsumerGroup, Reset, ResetMethod, ResetQueue, ResetStatus, ResetStep
from consumers.polling.kind_limits import KindLimits
from consumers.polling.record.tables.ids import EntityIds
from consumers.polling.record.tables.stamps import stamp, stamp_each
from consumers.vocabulary.brokers import MASTER
from consumers.vocabulary.unknown import UnknownReason

from .snapshots import NULL, Columns

# Which queues a reset may have moved since they were last read: such a move is no consumption.
TOLD = (ResetStep.WRITING, ResetStep.WRITTEN, ResetStep.UNANSWERED, ResetStep.READ_BACK)

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
    rows = ResetQueue.objects.filter(reset__in=list(resets), step__in=TOLD).exclude(method=ResetMethod.NOTHING)
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
CONSUMER, LOST_OFFSET = 0, 4

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
