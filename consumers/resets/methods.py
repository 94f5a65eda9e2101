"""What forbids moving an offset, when a reset is planned and when it is applied: rules over facts, nothing is asked.

When planned: which way an offset can be moved at all, or why it is left where it is. When applied: what has changed
since. Reasons are stored ones.

A broker moves offsets itself where its useServerSideResetOffset is on (from 5.1.0, by default from 5.2.0:
AdminBrokerProcessor.resetOffset). Otherwise it only tells connected members a time, and moves nothing if there is none.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from consumers.models import Reset, ResetKind, ResetMethod, ResetQueue
from consumers.resets.planning.queue_plan import BrokerSetup, GroupSetup, QueueOffsets
from consumers.resets.target_values import QueueKey
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import ApplyReason, PlanReason

from .reset_targets import TARGETS

# Why connected members cannot be told an offset by a broker that moves none itself.
# It takes a time, works the offsets out itself for all write queues of the topic, and sends them to every member that
# is connected (4.9.7 to 5.4.0, Broker2Client.resetOffset). It refuses if one of these queues has no commit.

# Other clients get the offsets in the Java client's own form; what they make of it is not RocketMQ's to tell.
UNDERSTOOD = "JAVA"


def why_members_cannot_be_notified(
    kind: ResetKind, group: GroupSetup, queue: QueueOffsets, clipped: bool, whole_topic: bool
) -> str | None:
    """For a group with members. Null where they can."""
    reason = _why_not_by_time(kind, clipped, whole_topic) or _why_not_understood(group)
    if reason is None and queue.now_offset is None:
        reason = stored_reason(PlanReason.WITHOUT_COMMIT_REFUSED)
    if reason is None:
        return None
    return stored_reason(PlanReason.MEMBERS_NOT_TOLD, broker=queue.key.broker, reason=reason)


def _why_not_by_time(kind: ResetKind, clipped: bool, whole_topic: bool) -> str | None:
    if TARGETS[kind].notified_as_ms is None:
        return stored_reason(PlanReason.TARGET_IS_OFFSET)
    if clipped:
        return stored_reason(PlanReason.CLIPPED_IS_OFFSET)
    if not whole_topic:
        return stored_reason(PlanReason.NOT_ALL_QUEUES)
    return None


def _why_not_understood(group: GroupSetup) -> str | None:
    others = sorted(set(group.languages) - {UNDERSTOOD})
    if others:
        return stored_reason(PlanReason.LANGUAGE_UNSURE, languages=others)
    if not group.languages:
        return stored_reason(PlanReason.CLIENTS_UNKNOWN)
    return None


WRITABLE = 2
PUSHED = "CONSUME_PASSIVELY"
POPPED = "CONSUME_POP"


@dataclass(frozen=True)
class LeftOut:
    """The queue is excluded. `reason`, as it is stored, says why, and what to do."""

    reason: str


def method_of(
    kind: ResetKind, group: GroupSetup, queue: QueueOffsets, target: int, clipped: bool, whole_topic: bool
) -> ResetMethod | LeftOut:
    """The method for one queue, whose target is within min..max.

    `whole_topic`: every queue of the topic at this broker is selected, and the topic has no fewer write queues than
    read queues. `together` then decides what all queues of a topic at a broker share.
    """
    broker = group.brokers.get(queue.key.broker)
    if broker is None:
        return LeftOut(stored_reason(PlanReason.BROKER_UNKNOWN, broker=queue.key.broker))
    if reason := _why_not_here(broker, queue):
        return LeftOut(reason)
    if group.members is None:
        return LeftOut(_why_members_unknown(group))
    if target == queue.now_offset:
        return ResetMethod.NOTHING
    if reason := _why_members_hold_it(group, queue.key.topic):
        return LeftOut(reason)
    if broker.server_side:
        return ResetMethod.SERVER
    if reason := _why_not_popped(group, queue.key):
        return LeftOut(reason)
    if not group.members:
        return ResetMethod.COMMIT
    reason = why_members_cannot_be_notified(kind, group, queue, clipped, whole_topic)
    return LeftOut(reason) if reason else ResetMethod.CLIENT


def together(methods: Mapping[QueueKey, ResetMethod | LeftOut]) -> dict[QueueKey, ResetMethod | LeftOut]:
    """One call notifies members of all queues of a topic at a broker. So if one queue is excluded, none is notified;
    and if one moves, queues that are at their target are notified as well."""
    notified = {(key.topic, key.broker) for key, method in methods.items() if method == ResetMethod.CLIENT}
    refused: dict[tuple[str, str], tuple[QueueKey, LeftOut]] = {}
    for key, method in methods.items():
        if isinstance(method, LeftOut):
            refused.setdefault((key.topic, key.broker), (key, method))
    return {key: _settled(key, method, notified, refused) for key, method in methods.items()}


def _settled(
    key: QueueKey,
    method: ResetMethod | LeftOut,
    notified: set[tuple[str, str]],
    refused: Mapping[tuple[str, str], tuple[QueueKey, LeftOut]],
) -> ResetMethod | LeftOut:
    place = (key.topic, key.broker)
    if place not in notified or method not in (ResetMethod.CLIENT, ResetMethod.NOTHING):
        return method
    if place not in refused:
        return ResetMethod.CLIENT
    if method == ResetMethod.NOTHING:
        return method
    other, why = refused[place]
    return LeftOut(stored_reason(PlanReason.TOLD_TOGETHER, queue=other.queue_id, why=why.reason))


def refusals_of_group(
    group: GroupSetup, *, last_message_model: str | None = None, outside_store: str | None = None
) -> list[str]:
    """Why no offset of the group can be reset at all; empty where some may be.

    `last_message_model` and `outside_store`: what readings know of the group, because it may have no member to report
    it.
    """
    if group.members is None:
        return [_why_members_unknown(group)]
    if group.members and group.message_model is None:
        return [stored_reason(PlanReason.MODEL_UNKNOWN)]
    if (group.message_model or last_message_model) == "BROADCASTING":
        return [stored_reason(PlanReason.BROADCASTING)]
    if outside_store is not None:
        return [stored_reason(PlanReason.OUTSIDE_STORE, store=outside_store)]
    return []


def _why_members_unknown(group: GroupSetup) -> str:
    why = group.members_error or stored_reason(PlanReason.BROKER_SILENT)
    return stored_reason(PlanReason.MEMBERS_UNKNOWN, why=why)


def _why_not_here(broker: BrokerSetup, queue: QueueOffsets) -> str | None:
    if broker.error is not None:
        return stored_reason(PlanReason.BROKER_UNASKABLE, broker=broker.name, error=broker.error)
    if queue.error is not None:
        return stored_reason(PlanReason.QUEUE_UNREADABLE, error=queue.error)
    if broker.permission is None:
        return stored_reason(PlanReason.WRITABLE_UNKNOWN, broker=broker.name)
    if not broker.permission & WRITABLE:
        return stored_reason(PlanReason.READ_ONLY, broker=broker.name, permission=broker.permission)
    if broker.server_side is None:
        return stored_reason(PlanReason.SERVER_SIDE_UNKNOWN, broker=broker.name)
    return None


def _why_members_hold_it(group: GroupSetup, topic: str) -> str | None:
    """Pull consumers continue from their own position, and commit it over the new offset as soon as a message is taken
    (5.4.0, DefaultLitePullConsumerImpl: OFFSET_ILLEGAL moves its pulls, not what it commits).
    """
    if not group.members or group.consume_type in (PUSHED, POPPED):
        return None
    if group.pop_topics is not None and topic in group.pop_topics:
        return None
    if group.consume_type is None:
        return stored_reason(PlanReason.CONSUME_TYPE_UNKNOWN)
    return stored_reason(PlanReason.MEMBERS_PULL, type=group.consume_type)


def _why_not_popped(group: GroupSetup, key: QueueKey) -> str | None:
    """A broker's in-memory state of popped messages takes precedence over a lower offset, and is cleared only by its
    own reset (5.4.0, PopMessageProcessor.getPopOffset).
    """
    if group.pop_topics is None:
        return stored_reason(PlanReason.POP_UNKNOWN, broker=key.broker)
    if key.topic in group.pop_topics or group.consume_type == POPPED:
        return stored_reason(PlanReason.POPPED, broker=key.broker)
    return None


SAID = 20


def what_moved(reset: Reset, rows: Sequence[ResetQueue], fresh: GroupSetup, tolerance: int) -> list[str]:
    """Stored reasons; none: the plan may be applied. `rows`: the queues to be written. `tolerance` in messages
    of one queue.
    """
    read = [row for row in rows if _is_read(fresh.brokers.get(row.broker))]
    changes = [*_members(reset, fresh), *_brokers(reset, rows, fresh), *_queues(read, fresh, tolerance)]
    if len(changes) > SAID:
        return [*changes[:SAID], stored_reason(ApplyReason.MORE_MOVED, n=len(changes) - SAID)]
    return changes


def why_offset_moved(row: ResetQueue, offset: int | None, tolerance: int) -> str | None:
    """`offset`: the present offset; null: it has no commit. Returns null where the plan still fits."""
    then, target = row.now_offset, row.target
    if offset == then:
        return None
    if then is None:
        return stored_reason(ApplyReason.COMMITTED_SINCE, offset=offset)
    if offset is None:
        return stored_reason(ApplyReason.COMMIT_GONE, then=then)
    if offset < then:
        return stored_reason(ApplyReason.WENT_BACK, then=then, offset=offset)
    # Where queues are moved one by one, a queue that no longer needs a skip is not written.
    if row.method == ResetMethod.CLIENT and target is not None and then < target < offset:
        return stored_reason(ApplyReason.WENT_PAST, then=then, offset=offset, target=target)
    if offset - then > tolerance:
        return stored_reason(ApplyReason.WENT_ON, then=then, offset=offset, tolerance=tolerance)
    return None


def _members(reset: Reset, fresh: GroupSetup) -> Iterator[str]:
    seen: Mapping[str, Any] = reset.seen or {}
    if fresh.members is None:
        yield stored_reason(ApplyReason.MEMBERS_NOW_UNKNOWN, error=fresh.members_error)
        return
    if seen.get("members") is None:
        yield stored_reason(ApplyReason.MEMBERS_THEN_UNKNOWN)
        return
    then, there = set(seen["members"]), set(fresh.members)
    if bool(then) != bool(there):
        yield stored_reason(ApplyReason.CAME_ONLINE if there else ApplyReason.WENT_OFFLINE)
    elif then != there:
        yield _other_members(there - then, then - there)
    elif there:
        yield from _changed(ApplyReason.MODEL_CHANGED, seen.get("message_model"), fresh.message_model)
        yield from _changed(ApplyReason.CONSUME_TYPE_CHANGED, seen.get("consume_type"), fresh.consume_type)


def _brokers(reset: Reset, rows: Sequence[ResetQueue], fresh: GroupSetup) -> Iterator[str]:
    seen = (reset.seen or {}).get("brokers") or {}
    for name in sorted({row.broker for row in rows}):
        broker = fresh.brokers.get(name)
        if broker is None or not _is_read(broker):
            yield stored_reason(ApplyReason.BROKER_NOT_READ, broker=name, error=_why(broker))
            continue
        then = seen.get(name) or {}
        changes = (
            (ApplyReason.MASTER_CHANGED, "address", broker.address),
            (ApplyReason.PERMISSION_CHANGED, "permission", broker.permission),
            (ApplyReason.SERVER_SIDE_CHANGED, "server_side", broker.server_side),
        )
        for code, field, there in changes:
            yield from _changed(code, then.get(field), there, broker=name)


def _queues(rows: Sequence[ResetQueue], fresh: GroupSetup, tolerance: int) -> Iterator[str]:
    for row in rows:
        queue = fresh.queues.get(QueueKey.of(row))
        reason = _why_unread(queue) or _why_range(row, queue) or _why_moved(row, queue, tolerance)
        if reason:
            place = {"topic": row.topic, "broker": row.broker, "queue_id": row.queue_id}
            yield stored_reason(ApplyReason.QUEUE_MOVED, **place, why=reason)


def _why_unread(queue: QueueOffsets | None) -> str | None:
    if queue is None:
        return stored_reason(ApplyReason.NOT_READ_NOW)
    if queue.error is not None:
        return stored_reason(ApplyReason.NOT_READABLE, error=queue.error)
    has_ends = queue.min_offset is not None and queue.max_offset is not None
    return None if has_ends else stored_reason(ApplyReason.ENDS_UNKNOWN)


def _why_range(row: ResetQueue, queue: QueueOffsets | None) -> str | None:
    if queue is None or queue.min_offset is None or queue.max_offset is None:
        return None
    if row.max_offset is not None and queue.max_offset < row.max_offset:
        return stored_reason(ApplyReason.END_WENT_BACK, then=row.max_offset, now=queue.max_offset)
    if row.target is None:
        return stored_reason(ApplyReason.PLAN_WITHOUT_TARGET)
    if row.target > queue.max_offset:
        return stored_reason(ApplyReason.TARGET_PAST_END, target=row.target, end=queue.max_offset)
    if row.target < queue.min_offset:
        return stored_reason(ApplyReason.TARGET_EXPIRED, target=row.target, start=queue.min_offset)
    return None


def _why_moved(row: ResetQueue, queue: QueueOffsets | None, tolerance: int) -> str | None:
    return None if queue is None else why_offset_moved(row, queue.now_offset, tolerance)


def _changed(code: ApplyReason, then: object, there: object, **values: str) -> Iterator[str]:
    if then != there:
        yield stored_reason(code, **values, then=then, now=there)


def _is_read(broker: BrokerSetup | None) -> bool:
    return broker is not None and broker.error is None


def _why(broker: BrokerSetup | None) -> str:
    return stored_reason(ApplyReason.NOT_ASKED) if broker is None or broker.error is None else broker.error


def _other_members(joined: Collection[str], left: Collection[str]) -> str:
    if not left:
        return stored_reason(ApplyReason.MEMBERS_JOINED, joined=_named(joined))
    if not joined:
        return stored_reason(ApplyReason.MEMBERS_LEFT, left=_named(left))
    return stored_reason(ApplyReason.MEMBERS_CHANGED, joined=_named(joined), left=_named(left))


def _named(members: Collection[str]) -> str:
    first, *others = sorted(members)
    return stored_reason(ApplyReason.AND_MORE, first=first, n=len(others)) if others else first
