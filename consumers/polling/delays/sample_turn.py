"""The turn of samples and timer wheels: now and then, for all brokers at once, under one budget."""

import asyncio
from collections.abc import Mapping

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.errors import DeadlineExceeded

from .answers import LevelKey, LevelSample, WheelAnswer
from .delay_offsets import DelayOffsets
from .sample_plan import LevelPlan, plan_sample
from .schedule_sample import sample_level
from .timer_wheel import read_wheel
from .turn import DelayMemory, DelayTurn


async def sample_brokers(
    turn: DelayTurn,
    admins: Mapping[str, BrokerAdmin],
    offsets: Mapping[str, DelayOffsets],
    waiting: Mapping[LevelKey, tuple[int, int]],
    memory: DelayMemory,
) -> dict[str, dict[int, LevelSample]]:
    """By broker and level; of a level without messages nothing has to be asked."""
    allowed = {key: ends for key, ends in waiting.items() if memory.may_pull(key[0], turn.now)}
    plans = plan_sample(allowed, memory.sampled_at, turn.limits.sample_calls)
    memory.note_samples(list(plans), waiting, turn.now)
    found = await asyncio.gather(*(_sample(turn, admins[key[0]], key, plan) for key, plan in plans.items()))
    samples = {
        name: {level: LevelSample() for level in of.ends if (name, level) not in waiting}
        for name, of in offsets.items()
    }
    for (name, level), sample in zip(plans, found, strict=True):
        samples[name][level] = sample
        if sample.refused:
            memory.pulls_refused[name] = turn.now
    return samples


async def read_wheels(
    turn: DelayTurn, admins: Mapping[str, BrokerAdmin], memory: DelayMemory
) -> dict[str, WheelAnswer]:
    """Of the brokers that did not refuse it a moment ago."""
    asked = [name for name in admins if memory.wheel_is_due(name, turn.now)]
    wheels = await asyncio.gather(*(read_wheel(admins[name], turn.deadline_seconds) for name in asked))
    found = dict(zip(asked, wheels, strict=True))
    memory.wheels_refused |= {name: turn.now for name, answer in found.items() if answer.error is not None}
    return found


async def _sample(turn: DelayTurn, admin: BrokerAdmin, key: LevelKey, plan: LevelPlan) -> LevelSample:
    broker, level = key
    delay = turn.level_delay(broker, level)
    try:
        async with asyncio.timeout(2 * turn.deadline_seconds):
            return await sample_level(admin, level, plan, delay, turn.group_of, turn.deadline_seconds)
    except TimeoutError:
        late = DeadlineExceeded(f"not sampled within {2 * turn.deadline_seconds:g} s", address=admin.address)
        return LevelSample(error=str(late))
