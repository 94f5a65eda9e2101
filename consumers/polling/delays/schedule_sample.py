"""Looks into messages of a delay level and counts the retries of each group among them.

Pulled under a tool's name, from the offset up to which the level was delivered; nothing is committed. Delayed messages
of applications are looked at too, and are no group's.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.codes import ResponseCode
from consumers.rocketmq.delay_levels import SCHEDULE_TOPIC, queue_of_level
from consumers.rocketmq.errors import BrokerRefused, RemoteProtocolError, RocketMQError
from consumers.rocketmq.message_values import PullOutcome, StoredMessage
from consumers.rocketmq.times import time_of

from .answers import GroupRung, LevelSample
from .sample_plan import AT_ONCE, LevelPlan

# Where a delayed message goes when it is due (RocketMQ 5.4.0, MessageConst).
REAL_TOPIC = "REAL_TOPIC"


async def sample_level(
    admin: BrokerAdmin,
    level: int,
    plan: LevelPlan,
    delay_seconds: int | None,
    group_of: Callable[[str], str | None],
    deadline_seconds: float,
) -> LevelSample:
    """`group_of`: the group that a topic retries for; None for any other topic."""
    try:
        messages = await _messages(admin, queue_of_level(level), plan, deadline_seconds)
        groups = group_rungs(messages.values(), delay_seconds, group_of)
    except RocketMQError as failure:
        refused = isinstance(failure, BrokerRefused) and failure.code == ResponseCode.NO_PERMISSION
        return LevelSample(error=str(failure), refused=refused)
    return LevelSample(len(messages), plan.end - plan.start, groups)


def group_rungs(
    messages: Iterable[StoredMessage], delay_seconds: int | None, group_of: Callable[[str], str | None]
) -> dict[str, GroupRung]:
    found: defaultdict[str, list[StoredMessage]] = defaultdict(list)
    for message in messages:
        group = group_of(message.properties.get(REAL_TOPIC, ""))
        if group is not None:
            found[group].append(message)
    return {group: _rung(messages, delay_seconds) for group, messages in found.items()}


def _rung(messages: list[StoredMessage], delay_seconds: int | None) -> GroupRung:
    oldest = _stored_at(min(message.stored_ms for message in messages))
    return GroupRung(
        messages=len(messages),
        attempts=Counter(message.reconsume_times for message in messages),
        oldest_stored_at=oldest,
        next_due_at=_due(oldest, delay_seconds),
    )


def _stored_at(milliseconds: int) -> datetime:
    stored_at = time_of(milliseconds)
    if stored_at is None:
        raise RemoteProtocolError(f"a delayed message has {milliseconds} as the time at which it was stored")
    return stored_at


def _due(stored_at: datetime, delay_seconds: int | None) -> datetime | None:
    """5.4.0, ScheduleMessageService.computeDeliverTimestamp: counted from when the message was stored."""
    return None if delay_seconds is None else stored_at + timedelta(seconds=delay_seconds)


async def _messages(
    admin: BrokerAdmin, queue_id: int, plan: LevelPlan, deadline_seconds: float
) -> Mapping[int, StoredMessage]:
    found: dict[int, StoredMessage] = {}
    starts, calls = plan.offsets, plan.calls
    while starts and calls:
        offset, calls = starts.pop(0), calls - 1
        pulled = await admin.pull(SCHEDULE_TOPIC, queue_id, offset, AT_ONCE, deadline_seconds=deadline_seconds)
        held = [message for message in pulled.messages if plan.start <= message.queue_offset < plan.end]
        found |= {message.queue_offset: message for message in held}
        after = held[-1].queue_offset + 1 if held else pulled.next_offset
        goes_on = pulled.outcome is not PullOutcome.NO_MESSAGE_YET and offset < after < plan.end
        if plan.is_whole and goes_on:
            starts.append(after)
    return found
