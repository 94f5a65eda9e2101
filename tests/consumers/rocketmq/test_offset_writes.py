"""Moving offsets: the requests, what counts as done, and what is certain where no answer came."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from consumers.rocketmq.wire.codes import BrokerRefused, RemoteProtocolError, RocketMQError
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import Command, encode
from consumers.rocketmq.writes import LATEST_MS, NotApplied, OffsetWrites
from tests.consumers.rocketmq.fake_server import Behaviour, answering, commands, reply, served, silence

Use = Callable[[OffsetWrites], Awaitable[Any]]
QUEUE = b'{"brokerName":"broker-a","queueId":%d,"topic":"orders"}:%d'


def table(*offsets: tuple[int, int]) -> bytes:
    return b'{"offsetTable":{%s}}' % b",".join(QUEUE % pair for pair in offsets)


def use(behaviour: Behaviour, then: Use) -> Any:
    async def main() -> Any:
        async with served(behaviour) as address, ConnectionPool() as pool:
            return await then(OffsetWrites(pool, address))

    return asyncio.run(main())


def exact(writes: OffsetWrites) -> Awaitable[int]:
    return writes.reset_exact("billing", "orders", 2, 41, deadline_seconds=1.0)


def by_time(writes: OffsetWrites) -> Awaitable[dict[int, int]]:
    return writes.reset_by_time("billing", "orders", 1700, deadline_seconds=1.0)


def commit(writes: OffsetWrites) -> Awaitable[None]:
    return writes.commit("billing", "orders", 2, 41, deadline_seconds=1.0)


EVERY = pytest.mark.parametrize("call", [exact, by_time, commit])


@pytest.mark.parametrize(
    ("call", "code", "fields"),
    [
        (exact, 222, {"timestamp": "-1", "isForce": "false", "queueId": "2", "offset": "41"}),
        (by_time, 222, {"timestamp": "1700", "isForce": "true"}),
    ],
)
def test_a_reset_names_group_and_topic_and_where_to(call: Use, code: int, fields: dict[str, str]) -> None:
    seen: list[Command] = []

    def answer(request: Command) -> Command:
        seen.append(request)
        return reply(request, body=table((2, 41)))

    use(answering(answer), call)
    assert [(request.code, request.ext_fields, request.body) for request in seen] == [
        (code, {"group": "billing", "topic": "orders"} | fields, b"")
    ]


def test_a_commit_is_a_members() -> None:
    seen: list[Command] = []

    def answer(request: Command) -> Command:
        seen.append(request)
        return reply(request)

    use(answering(answer), commit)
    assert [(request.code, request.ext_fields) for request in seen] == [
        (15, {"consumerGroup": "billing", "topic": "orders", "queueId": "2", "commitOffset": "41"})
    ]


def test_an_exact_reset_returns_the_offset_that_was_set() -> None:
    assert use(answering(lambda request: reply(request, body=table((2, 41)))), exact) == 41


def test_a_reset_by_time_returns_every_queue() -> None:
    answer = answering(lambda request: reply(request, body=table((1, 7), (0, 0))))
    assert use(answer, by_time) == {0: 0, 1: 7}


def test_the_end_is_a_time_too() -> None:
    seen: list[str] = []

    def answer(request: Command) -> Command:
        seen.append(request.ext_fields["timestamp"])
        return reply(request, body=table((0, 9)))

    use(answering(answer), lambda writes: writes.reset_by_time("billing", "orders", LATEST_MS))
    assert seen == ["-1"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (table((2, 40)), "queue 2 at 40"),
        (table((3, 41)), "queue 3 at 41"),
        (table((0, 5), (1, 6), (2, 41), (3, 8)), "queue 0 at 5, queue 1 at 6, queue 2 at 41 and others"),
        (table(), "no queue"),
    ],
)
def test_an_exact_reset_that_did_something_else_is_no_success(body: bytes, told: str) -> None:
    with pytest.raises(RemoteProtocolError, match=rf"queue 2 to 41 was answered with {told}: ") as error:
        use(answering(lambda request: reply(request, body=body)), exact)
    assert not error.value.never_sent


@pytest.mark.parametrize("body", [b"", b"{}", table()])
def test_a_reset_by_time_without_a_queue_is_no_success(body: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match=r"body ends early|222") as error:
        use(answering(lambda request: reply(request, body=body)), by_time)
    assert not error.value.never_sent


def test_a_success_without_a_reason_given_is_one() -> None:
    use(answering(lambda request: reply(request, remark="not set any response code")), commit)


def test_a_commit_that_a_pending_reset_swallowed_is_not_applied() -> None:
    answer = answering(lambda request: reply(request, remark="Offset has been previously reset"))
    with pytest.raises(NotApplied, match="an earlier reset of it has not been taken up"):
        use(answer, commit)


@EVERY
@pytest.mark.parametrize("code", [1, 2, 3, 16, 17, 26, 206, 1500])
def test_a_refusal_is_certain(call: Use, code: int) -> None:
    with pytest.raises(BrokerRefused, match="no such luck") as refusal:
        use(answering(lambda request: reply(request, code, remark="no such luck")), call)
    assert refusal.value.code == code
    assert refusal.value.address is not None


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async for _ in commands(reader):
        writer.close()


async def answer_half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async for request in commands(reader):
        writer.write(encode(reply(request, body=table((2, 41))))[:9])
        writer.close()


@EVERY
@pytest.mark.parametrize("behaviour", [silence, hang_up, answer_half], ids=["silent", "hangs up", "answers half"])
def test_without_an_answer_it_may_have_been_done(call: Use, behaviour: Behaviour) -> None:
    with pytest.raises(RocketMQError) as open_end:
        use(behaviour, call)
    assert not open_end.value.never_sent
    assert not isinstance(open_end.value, (BrokerRefused, NotApplied))


@EVERY
def test_nothing_is_sent_twice(call: Use) -> None:
    seen: list[Command] = []

    async def drop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async for request in commands(reader):
            seen.append(request)
            writer.close()

    with pytest.raises(RocketMQError):
        use(drop, call)
    assert len(seen) == 1


@EVERY
def test_without_a_connection_nothing_was_done(call: Use) -> None:
    async def main() -> None:
        async with ConnectionPool() as pool:
            await call(OffsetWrites(pool, "127.0.0.1:1"))

    with pytest.raises(RocketMQError) as never:
        asyncio.run(main())
    assert never.value.never_sent
