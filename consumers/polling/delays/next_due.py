"""When the first waiting message of a delay level is due: in its consume queue the deliver time stands as tags' code.

Reads no message (RocketMQ 5.4.0, AdminBrokerProcessor.queryConsumeQueue). An answer holds while its offset stands.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.delay_levels import SCHEDULE_TOPIC, queue_of_level
from consumers.rocketmq.errors import RocketMQError
from consumers.rocketmq.message_values import QueueEntries
from consumers.rocketmq.times import time_of

from .answers import LevelKey, NextDue

# Beyond every delay that a level may have; a hash of tags would lie years away.
LATEST = datetime(2100, 1, 1, tzinfo=UTC)
NOT_ASKED = "not asked in this reading: too many levels have messages"


async def next_dues(
    admins: Mapping[str, BrokerAdmin],
    waiting: Mapping[LevelKey, int],
    known: dict[LevelKey, NextDue],
    calls: int,
    deadline_seconds: float,
) -> dict[LevelKey, NextDue]:
    """One answer for each level of `waiting` (its delay offset), remembered in `known` while the offset stands."""
    asked = _to_ask(waiting, known, calls)
    answers = await asyncio.gather(
        *(_next_due(admins[broker], level, waiting[broker, level], deadline_seconds) for broker, level in asked)
    )
    fresh = dict(zip(asked, answers, strict=True))
    found = {key: fresh.get(key) or _held(known, key, offset) for key, offset in waiting.items()}
    known.clear()
    known.update({key: answer for key, answer in found.items() if answer.due_at is not None})
    return found


def due_time(tags_code: int) -> datetime | None:
    """None for what can be no time at which a message is due."""
    due_at = time_of(tags_code)
    return due_at if due_at is not None and due_at < LATEST else None


def _to_ask(waiting: Mapping[LevelKey, int], known: Mapping[LevelKey, NextDue], calls: int) -> Sequence[LevelKey]:
    """Those never answered first."""
    moved = [key for key, offset in waiting.items() if key not in known or known[key].offset != offset]
    return sorted(moved, key=lambda key: (key in known, key))[: max(calls, 0)]


def _held(known: Mapping[LevelKey, NextDue], key: LevelKey, offset: int) -> NextDue:
    held = known.get(key)
    return held if held is not None and held.offset == offset else NextDue(offset, None, NOT_ASKED)


async def _next_due(admin: BrokerAdmin, level: int, offset: int, deadline_seconds: float) -> NextDue:
    try:
        queue_id = queue_of_level(level)
        found = await admin.consume_queue(SCHEDULE_TOPIC, queue_id, offset, 1, deadline_seconds=deadline_seconds)
    except RocketMQError as failure:
        return NextDue(offset, None, str(failure))
    return _answer(found, offset)


def _answer(found: QueueEntries, offset: int) -> NextDue:
    if not found.entries or (found.min_offset is not None and found.min_offset > offset):
        return NextDue(offset, None, f"the broker has no message at {offset}, up to which it has delivered")
    code = found.entries[0].tags_code
    due_at = None if code is None else due_time(code)
    return NextDue(offset, due_at, None if due_at else f"what the broker keeps at {offset} is no time: {code}")
