"""Commits of the bench reach a broker that is busy now and then, and no other refusal passes."""

import asyncio

import pytest

from consumers.rocketmq.wire.frames import Command
from tests.bench.polling.traffic import commit
from tests.consumers.rocketmq.fake_server import answering, reply, served

COMMITS = [("g", "T", queue, 5) for queue in range(3)]


def test_what_a_busy_broker_refused_is_sent_again() -> None:
    taken: list[str] = []
    refused: list[str] = []

    def answer(request: Command) -> Command:
        queue = (request.ext_fields or {})["queueId"]
        if queue == "1" and not refused:
            refused.append(queue)
            return reply(request, code=2, remark="broker busy")
        taken.append(queue)
        return reply(request)

    async def send() -> None:
        async with served(answering(answer)) as address:
            await commit(address, COMMITS)

    asyncio.run(send())
    assert sorted(taken) == ["0", "1", "2"]


def test_any_other_refusal_ends_the_bench() -> None:
    async def send() -> None:
        async with served(answering(lambda request: reply(request, code=17, remark="no such topic"))) as address:
            await commit(address, COMMITS)

    with pytest.raises(SystemExit, match="no such topic"):
        asyncio.run(send())
