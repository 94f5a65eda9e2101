"""One connection per address, opened when needed and again when lost."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from consumers.rocketmq.wire.codes import Credentials, DeadlineExceeded, ResponseCode, RocketMQError, Unreachable
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import Command, encode
from tests.consumers.rocketmq.fake_server import Behaviour, commands, reply, served, silence


class Server:
    """Counts its connections; the first ones behave as told, the others answer."""

    def __init__(self, *first: Behaviour) -> None:
        self.connections = 0
        self._first = first

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        if self.connections <= len(self._first):
            await self._first[self.connections - 1](reader, writer)
            return
        async for request in commands(reader):
            writer.write(encode(reply(request, ext_fields=request.ext_fields)))


def run(server: Server, use: Callable[[ConnectionPool, str], Awaitable[object]], **options: object) -> ConnectionPool:
    async def main() -> ConnectionPool:
        async with served(server) as address, ConnectionPool(**options) as pool:  # type: ignore[arg-type]
            await use(pool, address)
        return pool

    return asyncio.run(main())


async def ask(pool: ConnectionPool, address: str, deadline_seconds: float = 5.0) -> Command:
    return await pool.request(address, 43, deadline_seconds=deadline_seconds)


async def closing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await anext(commands(reader))
    writer.close()


async def going_away(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    async for request in commands(reader):
        writer.write(encode(reply(request, ResponseCode.GO_AWAY)))


def test_calls_at_once_share_one_connection() -> None:
    async def use(pool: ConnectionPool, address: str) -> None:
        await asyncio.gather(*(ask(pool, address) for _ in range(10)))

    server = Server()
    pool = run(server, use)
    assert (server.connections, pool.calls) == (1, 10)


def test_it_opens_nothing_before_it_is_asked() -> None:
    async def use(pool: ConnectionPool, address: str) -> None:
        assert pool.calls == pool.bytes_sent == pool.bytes_received == 0

    server = Server()
    run(server, use)
    assert server.connections == 0


@pytest.mark.parametrize(
    ("first", "deadline_seconds", "failure"),
    [
        pytest.param(closing, 5.0, Unreachable, id="after the peer closed it"),
        pytest.param(silence, 0.1, DeadlineExceeded, id="after the peer fell silent"),
    ],
)
def test_it_connects_again(first: Behaviour, deadline_seconds: float, failure: type[RocketMQError]) -> None:
    async def use(pool: ConnectionPool, address: str) -> None:
        with pytest.raises(failure):
            await ask(pool, address, deadline_seconds)
        assert (await ask(pool, address)).code == 0

    server = Server(first)
    pool = run(server, use)
    assert (server.connections, pool.calls) == (2, 2)


def test_it_connects_again_after_the_peer_asked_it_to_go_away() -> None:
    async def use(pool: ConnectionPool, address: str) -> None:
        assert [(await ask(pool, address)).code for _ in range(2)] == [ResponseCode.GO_AWAY, 0]

    server = Server(going_away)
    run(server, use)
    assert server.connections == 2


def test_its_counters_are_sums_over_lost_connections_too() -> None:
    async def use(pool: ConnectionPool, address: str) -> None:
        for _ in range(3):
            await ask(pool, address)

    pool = run(Server(going_away, going_away), use)
    sent = len(encode(Command(43, 1)))
    answers = [reply(Command(43, 1), ResponseCode.GO_AWAY)] * 2 + [reply(Command(43, 1))]
    assert (pool.calls, pool.bytes_sent) == (3, 3 * sent)
    assert pool.bytes_received == sum(len(encode(answer)) for answer in answers)


def test_it_counts_for_each_peer_over_lost_connections_too() -> None:
    async def main() -> list[int]:
        async with served(Server(going_away)) as one, served(Server()) as other, ConnectionPool() as pool:
            for address in (one, one, other):
                await ask(pool, address)
            return [pool.spent(address).calls for address in (one, other, "127.0.0.1:1")]

    assert asyncio.run(main()) == [2, 1, 0]


def test_a_closed_pool_connects_no_more() -> None:
    async def main() -> None:
        async with served(silence) as address:
            pool = ConnectionPool()
            await pool.close()
            with pytest.raises(Unreachable, match="closed"):
                await ask(pool, address)

    asyncio.run(main())


def test_closing_the_pool_fails_calls_under_way() -> None:
    async def main() -> None:
        async with served(silence) as address:
            pool = ConnectionPool()
            arrived = asyncio.create_task(ask(pool, address))
            while not pool.calls:
                await asyncio.sleep(0)
            await pool.close()
            with pytest.raises(Unreachable):
                await arrived

    asyncio.run(main())


def test_it_signs_every_request_where_it_has_credentials() -> None:
    seen: list[Command] = []

    async def use(pool: ConnectionPool, address: str) -> None:
        seen.append(await pool.request(address, 208, {"topic": "T"}, deadline_seconds=5))

    credentials = Credentials("monitor", "secret")
    run(Server(), use, credentials=credentials)
    assert seen[0].ext_fields == credentials.signed({"topic": "T"}, b"")
