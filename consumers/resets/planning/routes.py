"""Where the queues of topics are, as name servers tell it: a queue is there or gone whatever readings have seen."""

import asyncio
from collections.abc import Collection

from consumers.errands.ports import Ports, reading
from consumers.rocketmq.errors import RocketMQError
from consumers.rocketmq.name_server import Route

ROUTES_AT_ONCE = 8


async def routes_of(ports: Ports, topics: Collection[str]) -> dict[str, Route | RocketMQError]:
    """One call for each topic. A failure stands in its place."""
    turns = asyncio.Semaphore(ROUTES_AT_ONCE)

    async def ask(topic: str) -> Route | RocketMQError:
        async with turns:
            try:
                return await reading(lambda: ports.route(topic))
            except RocketMQError as error:
                return error

    names = sorted(topics)
    return dict(zip(names, await asyncio.gather(*(ask(topic) for topic in names)), strict=True))
