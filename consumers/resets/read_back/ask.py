"""One round of reading back: each queue's offset and who is in the group, from all masters at once."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from consumers.errands.ports import Ports
from consumers.resets.planning.masters import Masters
from consumers.resets.planning.membership import Membership, membership
from consumers.resets.wish import QueueKey
from consumers.rocketmq.errors import RocketMQError


@dataclass(frozen=True)
class Unread:
    error: str


@dataclass(frozen=True)
class Round:
    """By queue: its offset, null where it has no commit."""

    offsets: Mapping[QueueKey, int | Unread | None]
    members: Membership


async def ask(ports: Ports, group: str, keys: Sequence[QueueKey]) -> Round:
    masters = Masters(ports)
    asked = asyncio.gather(*(_offset(masters, group, key) for key in keys))
    members, offsets = await asyncio.gather(membership(ports, masters, group), asked)
    return Round(dict(zip(keys, offsets, strict=True)), members)


async def _offset(masters: Masters, group: str, key: QueueKey) -> int | Unread | None:
    master = masters.get(key.broker)
    if master is None:
        return Unread(f"no reading has seen a master of {key.broker}")
    try:
        return await master.ask(
            lambda admin, within: admin.consumer_offset(group, key.topic, key.queue_id, deadline_seconds=within)
        )
    except RocketMQError as error:
        return Unread(str(error))
