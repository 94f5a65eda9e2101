"""Changes since a reset was planned that forbid applying it: rules over facts."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from consumers.models import Reset, ResetMethod, ResetQueue
from consumers.resets.planning.queue_plan import BrokerSetup, GroupSetup, QueueOffsets
from consumers.resets.targets.values import QueueKey
from consumers.vocabulary.reasons import stored_reason
from consumers.vocabulary.resets import ApplyReason

SAID = 20


def what_moved(reset: Reset, rows: Sequence[ResetQueue], fresh: GroupSetup, tolerance: int) -> list[str]:
    """Stored reasons; none: the plan may be applied. `rows`: the queues to be written. `tolerance` in messages
    of one queue.
    """
    read = [row for row in rows if _is_read(fresh.brokers.get(row.broker))]
    said = [*_members(reset, fresh), *_brokers(reset, rows, fresh), *_queues(read, fresh, tolerance)]
    if len(said) > SAID:
        return [*said[:SAID], stored_reason(ApplyReason.MORE_MOVED, n=len(said) - SAID)]
    return said


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
        facts = fresh.brokers.get(name)
        if facts is None or not _is_read(facts):
            yield stored_reason(ApplyReason.BROKER_NOT_READ, broker=name, error=_why(facts))
            continue
        then = seen.get(name) or {}
        changes = (
            (ApplyReason.MASTER_CHANGED, "address", facts.address),
            (ApplyReason.PERMISSION_CHANGED, "permission", facts.permission),
            (ApplyReason.SERVER_SIDE_CHANGED, "server_side", facts.server_side),
        )
        for code, field, there in changes:
            yield from _changed(code, then.get(field), there, broker=name)


def _queues(rows: Sequence[ResetQueue], fresh: GroupSetup, tolerance: int) -> Iterator[str]:
    for row in rows:
        facts = fresh.queues.get(QueueKey.of(row))
        reason = _why_unread(facts) or _why_range(row, facts) or _why_moved(row, facts, tolerance)
        if reason:
            place = {"topic": row.topic, "broker": row.broker, "queue_id": row.queue_id}
            yield stored_reason(ApplyReason.QUEUE_MOVED, **place, why=reason)


def _why_unread(facts: QueueOffsets | None) -> str | None:
    if facts is None:
        return stored_reason(ApplyReason.NOT_READ_NOW)
    if facts.error is not None:
        return stored_reason(ApplyReason.NOT_READABLE, error=facts.error)
    has_ends = facts.min_offset is not None and facts.max_offset is not None
    return None if has_ends else stored_reason(ApplyReason.ENDS_UNKNOWN)


def _why_range(row: ResetQueue, facts: QueueOffsets | None) -> str | None:
    if facts is None or facts.min_offset is None or facts.max_offset is None:
        return None
    if row.max_offset is not None and facts.max_offset < row.max_offset:
        return stored_reason(ApplyReason.END_WENT_BACK, then=row.max_offset, now=facts.max_offset)
    if row.target is None:
        return stored_reason(ApplyReason.PLAN_WITHOUT_TARGET)
    if row.target > facts.max_offset:
        return stored_reason(ApplyReason.TARGET_PAST_END, target=row.target, end=facts.max_offset)
    if row.target < facts.min_offset:
        return stored_reason(ApplyReason.TARGET_EXPIRED, target=row.target, start=facts.min_offset)
    return None


def _why_moved(row: ResetQueue, facts: QueueOffsets | None, tolerance: int) -> str | None:
    return None if facts is None else why_offset_moved(row, facts.now_offset, tolerance)


def _changed(code: ApplyReason, then: object, there: object, **values: str) -> Iterator[str]:
    if then != there:
        yield stored_reason(code, **values, then=then, now=there)


def _is_read(facts: BrokerSetup | None) -> bool:
    return facts is not None and facts.error is None


def _why(facts: BrokerSetup | None) -> str:
    return stored_reason(ApplyReason.NOT_ASKED) if facts is None or facts.error is None else facts.error


def _other_members(joined: Collection[str], left: Collection[str]) -> str:
    if not left:
        return stored_reason(ApplyReason.MEMBERS_JOINED, joined=_named(joined))
    if not joined:
        return stored_reason(ApplyReason.MEMBERS_LEFT, left=_named(left))
    return stored_reason(ApplyReason.MEMBERS_CHANGED, joined=_named(joined), left=_named(left))


def _named(members: Collection[str]) -> str:
    first, *others = sorted(members)
    return stored_reason(ApplyReason.AND_MORE, first=first, n=len(others)) if others else first
