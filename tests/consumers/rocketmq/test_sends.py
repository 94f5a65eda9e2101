"""Sending: the request, what counts as stored, and what is certain where no answer came."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from consumers.rocketmq.wire.codes import BrokerRefused, RocketMQError
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import Command, encode
from consumers.rocketmq.writes import BrokerSends, Outgoing, Sent
from tests.consumers.rocketmq.fake_server import Behaviour, answering, commands, reply, served, silence

MESSAGE = Outgoing(body=b"\x00body", properties="KEYS\x01k\x02", flag=7, sys_flag=0x701, born_ms=1700)
STORED_AT = {"msgId": "7F000001", "queueId": "2", "queueOffset": "41"}


def use(behaviour: Behaviour, then: Callable[[BrokerSends], Awaitable[Sent]]) -> Sent:
    async def main() -> Sent:
        async with served(behaviour) as address, ConnectionPool() as pool:
            return await then(BrokerSends(pool, address))

    return asyncio.run(main())


async def one(broker: BrokerSends) -> Sent:
    return await broker.send("%RETRY%billing", 2, MESSAGE, deadline_seconds=1.0)


def test_it_asks_as_a_producer_does() -> None:
    seen: list[Command] = []

    def answer(request: Command) -> Command:
        seen.append(request)
        return reply(request, ext_fields=STORED_AT)

    use(answering(answer), one)
    assert [(request.code, request.body) for request in seen] == [(310, b"\x00body")]
    assert seen[0].ext_fields == {
        "a": "CONSUMERSCOPE",
        "b": "%RETRY%billing",
        "c": "%RETRY%billing",
        "d": "1",
        "e": "2",
        "f": "1793",
        "g": "1700",
        "h": "7",
        "i": "KEYS\x01k\x02",
        "j": "0",
        "k": "false",
        "m": "false",
    }


@pytest.mark.parametrize("code", [0, 10, 11, 12])
def test_a_message_that_is_stored_but_not_yet_copied_was_sent(code: int) -> None:
    sent = use(answering(lambda request: reply(request, code, ext_fields=STORED_AT)), one)
    assert sent == Sent("7F000001", 2, 41)


@pytest.mark.parametrize("code", [1, 2, 13, 14, 16, 17, 26, 29, 215, 1500])
def test_a_refusal_is_certain(code: int) -> None:
    with pytest.raises(BrokerRefused, match="SEND_MESSAGE_V2") as refusal:
        use(answering(lambda request: reply(request, code, remark="no")), one)
    assert refusal.value.code == code


async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async for _ in commands(reader):
        writer.close()


async def answer_half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async for request in commands(reader):
        writer.write(encode(reply(request, ext_fields=STORED_AT))[:9])
        writer.close()


@pytest.mark.parametrize("behaviour", [silence, hang_up, answer_half], ids=["silent", "hangs up", "answers half"])
def test_without_an_answer_it_may_have_been_sent(behaviour: Behaviour) -> None:
    with pytest.raises(RocketMQError) as open_end:
        use(behaviour, one)
    assert not open_end.value.never_sent
    assert not isinstance(open_end.value, BrokerRefused)


def test_an_answer_that_does_not_say_where_leaves_it_open() -> None:
    with pytest.raises(RocketMQError, match="queueOffset") as open_end:
        use(answering(lambda request: reply(request, ext_fields={"queueId": "2"})), one)
    assert not open_end.value.never_sent


def test_without_a_connection_it_was_certainly_not_sent() -> None:
    async def main(address: str) -> None:
        async with ConnectionPool() as pool:
            await one(BrokerSends(pool, address))

    with pytest.raises(RocketMQError) as never:
        asyncio.run(main("127.0.0.1:1"))
    assert never.value.never_sent


def test_on_a_connection_that_is_closed_it_was_certainly_not_sent() -> None:
    async def closed(broker: BrokerSends) -> Sent:
        pool = broker._pool
        await pool.request(broker.address, 45, deadline_seconds=1)
        (connection,) = pool._known()
        await connection.close()
        await connection.request(310, {}, deadline_seconds=1)
        raise AssertionError("it was sent")

    with pytest.raises(RocketMQError) as never:
        use(answering(reply), closed)
    assert never.value.never_sent
