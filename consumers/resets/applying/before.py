"""Where queues stand right before they are written: a restore returns there, and what moved too far is left alone."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from consumers.errands.ports import Ports, reading
from consumers.models import ResetMethod, ResetQueue
from consumers.rocketmq.errors import RocketMQError

from .revalidate import why_offset_moved

AT_ONCE = 8


@dataclass(frozen=True)
class LeftAlone:
    """`error`: of the reading, where that is the reason."""

    sentence: str
    error: RocketMQError | None = None


async def look_before(ports: Ports, group: str, rows: Sequence[ResetQueue]) -> list[int | RocketMQError | None]:
    """In the order of `rows`, of one broker; null: nothing is committed there."""
    broker, seconds = ports.known(rows[0].broker), ports.deadline_seconds
    turns = asyncio.Semaphore(AT_ONCE)

    async def look(row: ResetQueue) -> int | RocketMQError | None:
        async with turns:
            try:
                return await reading(
                    lambda: broker.consumer_offset(group, row.topic, row.queue_id, deadline_seconds=seconds)
                )
            except RocketMQError as error:
                return error

    return list(await asyncio.gather(*(look(row) for row in rows)))


def is_there_by_itself(row: ResetQueue, stands: int | RocketMQError | None) -> bool:
    """Nothing of it is to be skipped any more. Not where members are told all queues of a topic at once."""
    if row.method == ResetMethod.CLIENT or row.now_offset is None or row.target is None or not isinstance(stands, int):
        return False
    return row.now_offset < row.target <= stands


def why_left_alone(row: ResetQueue, stands: int | RocketMQError | None, tolerance: int) -> LeftAlone | None:
    """Null where it may be written as planned."""
    if isinstance(stands, RocketMQError):
        return LeftAlone(f"where it stood could not be read, so it was not written: {stands}", stands)
    if moved := why_offset_moved(row, stands, tolerance):
        return LeftAlone(f"{moved}, so it was left alone")
    return None
