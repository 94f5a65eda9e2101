"""Changes since a reset was planned that forbid applying it: rules over facts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from consumers.models import Reset, ResetMethod, ResetQueue
from consumers.resets.facts import BrokerFacts, GroupFacts, QueueFacts
from consumers.resets.wish import QueueKey

SAID = 20


def what_moved(reset: Reset, rows: Sequence[ResetQueue], fresh: GroupFacts, tolerance: int) -> list[str]:
    """Sentences; none: the plan may be applied. `rows`: the queues to be written. `tolerance` in messages
    of one queue.
    """
    read = [row for row in rows if _is_read(fresh.brokers.get(row.broker))]
    said = [*_members(reset, fresh), *_brokers(reset, rows, fresh), *_queues(read, fresh, tolerance)]
    if len(said) > SAID:
        return [*said[:SAID], f"And {len(said) - SAID} more."]
    return said


def why_offset_moved(row: ResetQueue, offset: int | None, tolerance: int) -> str | None:
    """`offset`: the present offset; null: it has no commit. Returns null where the plan still fits."""
    then, target = row.now_offset, row.target
    if offset == then:
        return None
    if then is None:
        return f"it had no commit at the plan, and stands at {offset:,}"
    if offset is None:
        return f"it stood at {then:,} at the plan, and has no commit any more"
    if offset < then:
        return f"it went back from {then:,} to {offset:,}"
    # Where queues are moved one by one, a queue that no longer needs a skip is not written.
    if row.method == ResetMethod.CLIENT and target is not None and then < target < offset:
        return f"it went on from {then:,} to {offset:,}, past its target {target:,}"
    if offset - then > tolerance:
        return f"it went on from {then:,} to {offset:,}, by more than {tolerance:,} messages"
    return None


def _members(reset: Reset, fresh: GroupFacts) -> Iterator[str]:
    seen: Mapping[str, Any] = reset.seen or {}
    if fresh.members is None:
        yield f"Who is in the group cannot be told: {fresh.members_error}."
        return
    if seen.get("members") is None:
        yield "Who was in the group at the plan is not known."
        return
    then, there = set(seen["members"]), set(fresh.members)
    if bool(then) != bool(there):
        yield f"The group was {_online(then)} at the plan, and is {_online(there)}."
    elif then != there:
        changes = [("came", there - then), ("left", then - there)]
        yield f"Other members: {'; '.join(f'{_named(who)} {how}' for how, who in changes if who)}."
    elif there:
        yield from _changed("The group's message model", seen.get("message_model"), fresh.message_model)
        yield from _changed("The group's way to consume", seen.get("consume_type"), fresh.consume_type)


def _brokers(reset: Reset, rows: Sequence[ResetQueue], fresh: GroupFacts) -> Iterator[str]:
    seen = (reset.seen or {}).get("brokers") or {}
    for name in sorted({row.broker for row in rows}):
        facts = fresh.brokers.get(name)
        if facts is None or not _is_read(facts):
            yield f"{name} could not be read: {_why(facts)}."
            continue
        then = seen.get(name) or {}
        yield from _changed(f"The master of {name}", then.get("address"), facts.address)
        yield from _changed(f"The permission of {name}", then.get("permission"), facts.permission)
        yield from _changed(f"Whether {name} moves offsets itself", then.get("server_side"), facts.server_side)


def _queues(rows: Sequence[ResetQueue], fresh: GroupFacts, tolerance: int) -> Iterator[str]:
    for row in rows:
        facts = fresh.queues.get(QueueKey.of(row))
        reason = _why_unread(facts) or _why_range(row, facts) or _why_moved(row, facts, tolerance)
        if reason:
            yield f"{row.topic}, {row.broker}, queue {row.queue_id}: {reason}."


def _why_unread(facts: QueueFacts | None) -> str | None:
    if facts is None:
        return "it was not read"
    if facts.error is not None:
        return f"it could not be read: {facts.error}"
    return "where it begins and ends is not known" if facts.min_offset is None or facts.max_offset is None else None


def _why_range(row: ResetQueue, facts: QueueFacts | None) -> str | None:
    if facts is None or facts.min_offset is None or facts.max_offset is None:
        return None
    if row.max_offset is not None and facts.max_offset < row.max_offset:
        return f"it ended at {row.max_offset:,} at the plan, and ends at {facts.max_offset:,}"
    if row.target is None:
        return "the plan has no target for it"
    if row.target > facts.max_offset:
        return f"its target {row.target:,} lies behind its end, {facts.max_offset:,}"
    if row.target < facts.min_offset:
        return f"its target {row.target:,} has expired: it begins at {facts.min_offset:,}"
    return None


def _why_moved(row: ResetQueue, facts: QueueFacts | None, tolerance: int) -> str | None:
    return None if facts is None else why_offset_moved(row, facts.now_offset, tolerance)


def _changed(what: str, then: object, there: object) -> Iterator[str]:
    if then != there:
        yield f"{what} was {_or_none(then)} at the plan, and is {_or_none(there)}."


def _is_read(facts: BrokerFacts | None) -> bool:
    return facts is not None and facts.error is None


def _why(facts: BrokerFacts | None) -> str:
    return "it was not asked" if facts is None or facts.error is None else facts.error


def _online(members: Iterable[str]) -> str:
    return "online" if members else "offline"


def _named(members: Iterable[str]) -> str:
    first, *others = sorted(members)
    return f"{first} and {len(others)} more" if others else first


def _or_none(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not known" if value is None else str(value)
