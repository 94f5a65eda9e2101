"""One reading of the delay levels of all brokers: next due of each, and, in its turn, a sample and the timer wheel.

What fails is that level's or that broker's own. A slave delivers nothing: read in its master's place, it tells nothing.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from consumers.polling.reading import BrokerReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.delay_levels import SCHEDULE_TOPIC, level_delays, queue_of_level
from consumers.rocketmq.errors import DeadlineExceeded, RemoteProtocolError, RocketMQError
from consumers.rocketmq.pool import ConnectionPool

from .answers import BrokerDelays, DelayLimits, LevelKey, LevelReading, LevelSample, NextDue, WheelAnswer
from .delay_offsets import DelayOffsets
from .next_due import next_dues
from .sample_plan import LevelPlan, plan_sample
from .schedule_sample import sample_level
from .timer_wheel import read_wheel

FROM_A_SLAVE = "read from a slave, which delivers no delayed messages"
NO_SCHEDULE_TOPIC = "the broker gave no offsets of SCHEDULE_TOPIC_XXXX"
# A broker without a timer wheel writes an error into its log whenever it is asked (5.4.0, AdminBrokerProcessor).
REFUSAL_HOLDS = timedelta(minutes=10)
# Levels beyond the queues of the schedule topic are asked for one by one.
MOST_LEVELS = 64


@dataclass
class DelayMemory:
    """One per cluster and process."""

    dues: dict[LevelKey, NextDue] = field(default_factory=dict)
    sampled_at: dict[LevelKey, datetime] = field(default_factory=dict)
    sampled: datetime | None = None
    wheels_refused: dict[str, datetime] = field(default_factory=dict)

    def samples_are_due(self, limits: DelayLimits, now: datetime) -> bool:
        return self.sampled is None or now - self.sampled >= timedelta(seconds=limits.sample_seconds)


@dataclass(frozen=True)
class DelayTurn:
    """`delays`: by broker, its messageDelayLevel where that is known. `group_of`: see sample_level."""

    pool: ConnectionPool
    limits: DelayLimits
    delays: Mapping[str, str | None]
    group_of: Callable[[str], str | None]
    now: datetime
    deadline_seconds: float


async def collect_delays(turn: DelayTurn, brokers: Sequence[BrokerReading], memory: DelayMemory) -> list[BrokerDelays]:
    """One for each broker that was read."""
    read = [broker for broker in brokers if broker.read and broker.delays is not None]
    failures = {broker.name: reason for broker in read if (reason := _why_not(broker)) is not None}
    admins = {one.name: BrokerAdmin(turn.pool, one.address) for one in read if one.address and one.name not in failures}
    ends = await asyncio.gather(*(_with_more_levels(turn, admins[one.name], one) for one in read if one.name in admins))
    offsets = dict(zip(admins, ends, strict=True))
    waiting = {
        (name, level): (found.delay_offset(level), found.ends[level])
        for name, found in offsets.items()
        for level in found.backlogs
    }
    starts = {key: start for key, (start, _) in waiting.items()}
    dues = await next_dues(admins, starts, memory.dues, turn.limits.due_calls, turn.deadline_seconds)
    samples, wheels = await _samples(turn, admins, offsets, waiting, memory)
    return [
        BrokerDelays(one.name, error=failures[one.name])
        if one.name in failures
        else BrokerDelays(
            one.name, None, _levels(one.name, offsets[one.name], dues), samples.get(one.name, {}), wheels.get(one.name)
        )
        for one in read
    ]


def _why_not(broker: BrokerReading) -> str | None:
    assert broker.delays is not None
    if broker.read_from is not None or broker.address is None:
        return FROM_A_SLAVE
    return broker.delays.error or (None if broker.delays.ends else NO_SCHEDULE_TOPIC)


async def _with_more_levels(turn: DelayTurn, admin: BrokerAdmin, broker: BrokerReading) -> DelayOffsets:
    """A level beyond the schedule topic's queues has its end only where it is asked for; where that fails, none."""
    assert broker.delays is not None
    configured = range(1, len(_delays_of(turn, broker.name)) + 1)
    missing = sorted({*configured, *broker.delays.delivered} - broker.delays.ends.keys())[:MOST_LEVELS]

    async def end_of(level: int) -> int | None:
        try:
            queue_id = queue_of_level(level)
            return await admin.max_offset(SCHEDULE_TOPIC, queue_id, deadline_seconds=turn.deadline_seconds)
        except RocketMQError:
            return None

    ends = await asyncio.gather(*map(end_of, missing))
    more = {level: end for level, end in zip(missing, ends, strict=True) if end is not None}
    return replace(broker.delays, ends={**broker.delays.ends, **more})


def _levels(broker: str, offsets: DelayOffsets, dues: Mapping[LevelKey, NextDue]) -> dict[int, LevelReading]:
    return {
        level: LevelReading(offsets.delay_offset(level), end, dues.get((broker, level)))
        for level, end in sorted(offsets.ends.items())
    }


def _delays_of(turn: DelayTurn, broker: str) -> Sequence[int]:
    text = turn.delays.get(broker)
    try:
        return level_delays(text) if text is not None else ()
    except RemoteProtocolError:
        return ()


async def _samples(
    turn: DelayTurn,
    admins: Mapping[str, BrokerAdmin],
    offsets: Mapping[str, DelayOffsets],
    waiting: Mapping[LevelKey, tuple[int, int]],
    memory: DelayMemory,
) -> tuple[dict[str, dict[int, LevelSample]], dict[str, WheelAnswer]]:
    """Nothing while it is not their turn; a level without messages needs no call."""
    if not memory.samples_are_due(turn.limits, turn.now):
        return {}, {}
    memory.sampled = turn.now
    plans = plan_sample(waiting, memory.sampled_at, turn.limits.sample_calls)
    memory.sampled_at = {key: at for key, at in memory.sampled_at.items() if key in waiting} | dict.fromkeys(
        plans, turn.now
    )
    asked = [
        name for name in admins if turn.now - memory.wheels_refused.get(name, turn.now - REFUSAL_HOLDS) >= REFUSAL_HOLDS
    ]
    found, wheels = await asyncio.gather(
        asyncio.gather(*(_sample(turn, admins[name], (name, level), plan) for (name, level), plan in plans.items())),
        asyncio.gather(*(read_wheel(admins[name], turn.deadline_seconds) for name in asked)),
    )
    of_wheels = dict(zip(asked, wheels, strict=True))
    memory.wheels_refused |= {name: turn.now for name, answer in of_wheels.items() if answer.error is not None}
    samples: dict[str, dict[int, LevelSample]] = {
        name: {level: LevelSample() for level in of.ends if (name, level) not in waiting}
        for name, of in offsets.items()
    }
    for (name, level), sample in zip(plans, found, strict=True):
        samples[name][level] = sample
    return samples, of_wheels


async def _sample(turn: DelayTurn, admin: BrokerAdmin, key: LevelKey, plan: LevelPlan) -> LevelSample:
    broker, level = key
    delays = _delays_of(turn, broker)
    delay_seconds = delays[level - 1] if level <= len(delays) else None
    try:
        async with asyncio.timeout(2 * turn.deadline_seconds):
            return await sample_level(admin, level, plan, delay_seconds, turn.group_of, turn.deadline_seconds)
    except TimeoutError:
        late = DeadlineExceeded(f"not sampled within {2 * turn.deadline_seconds:g} s", address=admin.address)
        return LevelSample(error=str(late))
