"""One call to a served broker that gives a real broker's recorded answer."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import Command
from tests.consumers.rocketmq.fake_server import Behaviour, answering, reply, served
from tests.consumers.rocketmq.golden import golden

Use = Callable[[BrokerAdmin], Awaitable[Any]]


def ask(behaviour: Behaviour, use: Use) -> Any:
    async def main() -> Any:
        async with served(behaviour) as address, ConnectionPool() as pool:
            return await use(BrokerAdmin(pool, address))

    return asyncio.run(main())


def golden_answer(name: str, seen: list[Command] | None = None) -> Behaviour:
    answer = golden(name)

    def note(request: Command) -> Command:
        if seen is not None:
            seen.append(request)
        return reply(request, answer.code, ext_fields=answer.ext_fields, body=answer.body, remark=answer.remark)

    return answering(note)
