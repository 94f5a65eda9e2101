"""Whatever a peer does, a call ends within its deadline in an error that says what happened."""

import asyncio
import contextlib
import socket
import struct

import pytest

from consumers.rocketmq.wire.codes import (
    DeadlineExceeded,
    LocalProtocolError,
    RemoteProtocolError,
    RocketMQError,
    Unreachable,
)
from consumers.rocketmq.wire.connection import Connection
from consumers.rocketmq.wire.frames import Command, encode
from tests.consumers.rocketmq.fake_server import Behaviour, commands, served, silence

ANSWER = encode(Command(0, 1, flag=1, body=b"{}"))


def framed(header: bytes) -> bytes:
    return struct.pack(">II", 4 + len(header), len(header)) + header


def sending(garbage: bytes, *, then_close: bool) -> Behaviour:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await anext(commands(reader))
        writer.write(garbage)
        if then_close:
            writer.close()
        else:
            await silence(reader, writer)

    return behave


async def call(behaviour: Behaviour, deadline_seconds: float) -> RocketMQError:
    async with served(behaviour) as address:
        connection = await Connection.open(address, deadline_seconds=5)
        with pytest.raises(RocketMQError) as caught:
            await connection.request(43, deadline_seconds=deadline_seconds)
        assert caught.value.address == address
        assert not connection.usable
        await connection.close()
        return caught.value


@pytest.mark.parametrize(
    ("garbage", "why"),
    [
        pytest.param(b"", "before answering", id="nothing"),
        pytest.param(ANSWER[:3], "in the middle of an answer", id="a part of a length"),
        pytest.param(ANSWER[:-1], "in the middle of an answer", id="a frame cut short"),
    ],
)
def test_a_peer_that_closes_too_early_is_unreachable(garbage: bytes, why: str) -> None:
    error = asyncio.run(call(sending(garbage, then_close=True), deadline_seconds=5))
    assert isinstance(error, Unreachable)
    assert why in str(error)


@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(b"", id="silence"),
        pytest.param(ANSWER[:3], id="a part of a length, then silence"),
        pytest.param(ANSWER[:-1], id="all but one byte, then silence"),
        pytest.param(struct.pack(">I", len(ANSWER)) + ANSWER[4:], id="a length that says too much, then silence"),
    ],
)
def test_a_peer_that_falls_silent_costs_the_deadline_and_its_connection(garbage: bytes) -> None:
    error = asyncio.run(call(sending(garbage, then_close=False), deadline_seconds=0.1))
    assert isinstance(error, DeadlineExceeded)
    assert "no answer to GET_ALL_CONSUMER_OFFSET (43) within 0.1 s" in str(error)


@pytest.mark.parametrize(
    "garbage",
    [
        pytest.param(b"\xff\xff\xff\xf0" + ANSWER, id="a negative length"),
        pytest.param(struct.pack(">I", 300 * 1024 * 1024), id="a length of 300 MB"),
        pytest.param(struct.pack(">I", len(ANSWER) - 4 - 3) + ANSWER[4:], id="a length that says too little"),
        pytest.param(struct.pack(">II", 20, 21) + bytes(16), id="a header longer than its frame"),
        pytest.param(framed(b'{"code":0,'), id="a header that is not JSON"),
        pytest.param(framed(b'{"code":0,"opaque":1,"flag":1,"remark":"\xc3"}'), id="a header that is not UTF-8"),
        pytest.param(framed(b'{"code":0,"opaque":2,"flag":1}'), id="an answer to another request"),
        pytest.param(ANSWER.replace(b'"flag":1', b'"flag":1.0'), id="a changed header"),
        pytest.param(b"HTTP/1.1 400 Bad Request\r\n\r\n", id="another protocol"),
    ],
)
def test_a_peer_that_breaks_the_rules_is_named_at_once(garbage: bytes) -> None:
    error = asyncio.run(call(sending(garbage, then_close=False), deadline_seconds=5))
    assert isinstance(error, RemoteProtocolError)


def test_a_peer_that_resets_the_connection_is_unreachable() -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await anext(commands(reader))
        linger_nothing = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_nothing)
        writer.transport.abort()

    assert isinstance(asyncio.run(call(reset, deadline_seconds=5)), Unreachable)


def test_a_peer_that_reads_nothing_costs_the_deadline() -> None:
    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        async with served(deaf) as address:
            connection = await Connection.open(address, deadline_seconds=5)
            calls = [connection.request(202, body=bytes(8_000_000), deadline_seconds=0.3) for _ in range(3)]
            outcomes = await asyncio.gather(*calls, return_exceptions=True)
            assert [type(outcome) for outcome in outcomes] == [DeadlineExceeded] * 3
            await connection.close()

    asyncio.run(main())


def test_a_port_where_nobody_listens_is_unreachable() -> None:
    async def main() -> None:
        async with served(silence) as address:
            pass
        with pytest.raises(Unreachable) as caught:
            await Connection.open(address, deadline_seconds=5)
        assert caught.value.address == address

    asyncio.run(main())


@pytest.mark.parametrize("address", ["no-such-host.invalid:9876", "." * 5 + ":9876", "a" * 64 + ".invalid:9876"])
def test_a_host_that_does_not_resolve_is_unreachable(address: str) -> None:
    with pytest.raises(Unreachable):
        asyncio.run(Connection.open(address, deadline_seconds=5))


def test_a_bad_address_is_our_own_fault() -> None:
    with pytest.raises(LocalProtocolError):
        asyncio.run(Connection.open("broker", deadline_seconds=5))


def test_connecting_ends_within_the_deadline() -> None:
    async def main(address: str) -> float:
        loop, queued = asyncio.get_running_loop(), []
        with contextlib.suppress(DeadlineExceeded):
            for _ in range(4):
                queued.append(await Connection.open(address, deadline_seconds=0.2))
        started = loop.time()
        with pytest.raises(DeadlineExceeded, match=r"no connection within 0\.2 s"):
            await Connection.open(address, deadline_seconds=0.2)
        spent = loop.time() - started
        for connection in queued:
            await connection.close()
        return spent

    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        assert asyncio.run(main(f"127.0.0.1:{full.getsockname()[1]}")) < 2
