"""One reading of the delay levels of all brokers: next due of each, and, in its turn, a sample and the timer wheel.

What fails is that level's or that broker's own. A slave delivers nothing: read in its master's place, it tells nothing.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from consumers.polling.reading import BrokerReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.delay_levels import SCHEDULE_TOPIC, queue_of_level
from consumers.rocketmq.errors import RocketMQError

from .answers import BrokerDelays, DelaysReading, LevelKey, LevelReading, LevelSample, NextDue, WheelAnswer
from .delay_offsets import DelayOffsets
from .next_due import next_dues
from .sample_turn import read_wheels, sample_brokers
from .turn import DelayMemory, DelayTurn

FROM_A_SLAVE = "read from a slave, which delivers no delayed messages"
NO_SCHEDULE_TOPIC = "the broker gave no offsets of SCHEDULE_TOPIC_XXXX"
# Levels beyond the queues of the schedule topic are asked for one by one.
MOST_LEVELS = 64


async def collect_delays(turn: DelayTurn, brokers: Sequence[BrokerReading], memory: DelayMemory) -> DelaysReading:
    """One part for each broker that was read."""
    clock = asyncio.get_running_loop().time
    began, calls, received = clock(), turn.pool.calls, turn.pool.bytes_received
    failures = {one.name: _why_not(one, one.delays) for one in brokers if one.read and one.delays is not None}
    told = {one.name: one for one in brokers if one.name in failures and failures[one.name] is None}
    admins = {name: BrokerAdmin(turn.pool, one.address) for name, one in told.items() if one.address}
    offsets = await _offsets(turn, admins, told)
    waiting = {
        (name, level): (of.delay_offset(level), of.ends[level]) for name, of in offsets.items() for level in of.backlogs
    }
    starts = {key: start for key, (start, _) in waiting.items()}
    dues = await next_dues(admins, starts, memory.dues, turn.limits.due_calls, turn.deadline_seconds)
    samples: dict[str, dict[int, LevelSample]] = {}
    wheels: dict[str, WheelAnswer] = {}
    if memory.samples_are_due(turn.limits, turn.now):
        samples, wheels = await asyncio.gather(
            sample_brokers(turn, admins, offsets, waiting, memory), read_wheels(turn, admins, memory)
        )
    parts = tuple(
        BrokerDelays(name, error=why)
        if why is not None
        else BrokerDelays(name, None, _levels(name, offsets[name], dues), samples.get(name, {}), wheels.get(name))
        for name, why in failures.items()
    )
    return DelaysReading(parts, turn.pool.calls - calls, turn.pool.bytes_received - received, clock() - began)


def _why_not(broker: BrokerReading, delays: DelayOffsets) -> str | None:
    if broker.read_from is not None or broker.address is None:
        return FROM_A_SLAVE
    return delays.error or (None if delays.ends else NO_SCHEDULE_TOPIC)


async def _offsets(
    turn: DelayTurn, admins: Mapping[str, BrokerAdmin], brokers: Mapping[str, BrokerReading]
) -> dict[str, DelayOffsets]:
    known = {name: brokers[name].delays or DelayOffsets() for name in admins}
    found = await asyncio.gather(*(_with_more_levels(turn, name, admins[name], of) for name, of in known.items()))
    return dict(zip(known, found, strict=True))


async def _with_more_levels(turn: DelayTurn, broker: str, admin: BrokerAdmin, known: DelayOffsets) -> DelayOffsets:
    """A level beyond the schedule topic's queues has its end only where it is asked for; where that fails, none."""
    configured = range(1, len(turn.level_delays(broker)) + 1)
    missing = sorted({*configured, *known.delivered} - known.ends.keys())[:MOST_LEVELS]

    async def end_of(level: int) -> int | None:
        try:
            queue_id = queue_of_level(level)
            return await admin.max_offset(SCHEDULE_TOPIC, queue_id, deadline_seconds=turn.deadline_seconds)
        except RocketMQError:
            return None

    ends = await asyncio.gather(*map(end_of, missing))
    more = {level: end for level, end in zip(missing, ends, strict=True) if end is not None}
    return replace(known, ends={**known.ends, **more})


def _levels(broker: str, offsets: DelayOffsets, dues: Mapping[LevelKey, NextDue]) -> dict[int, LevelReading]:
    return {
        level: LevelReading(offsets.delay_offset(level), end, dues.get((broker, level)))
        for level, end in sorted(offsets.ends.items())
    }
