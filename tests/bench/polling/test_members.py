"""The bench's brokers answer as real ones do, in their sizes, and hold no more calls than are sent."""

import asyncio
import random
from typing import Any

import pytest

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.client_bodies import group_connections, running_info
from consumers.rocketmq.wire.codes import RequestCode
from consumers.rocketmq.wire.connection import ConnectionPool
from tests.bench.polling.members_broker import (
    Broker,
    Connection,
    client_id,
    connections_body,
    group_name,
    running_info_body,
)
from tests.bench.polling.members_floor import bare_seconds
from tests.consumers.rocketmq.golden import golden


def served(use: Any) -> tuple[Any, Broker]:
    broker = Broker(groups=20, members=3, number=0)

    async def main() -> Any:
        server = await asyncio.get_running_loop().create_server(lambda: Connection(broker), "127.0.0.1", 0)
        async with server:
            return await use(f"127.0.0.1:{server.sockets[0].getsockname()[1]}")

    return asyncio.run(main()), broker


def test_it_lists_every_member_in_no_order() -> None:
    bodies = [connections_body(7, 10, 0, random.Random(seed)) for seed in range(5)]
    listed = [[client.client_id for client in group_connections(body).clients] for body in bodies]
    assert len({tuple(ids) for ids in listed}) > 1
    assert all(sorted(ids) == sorted(client_id(7, member) for member in range(10)) for ids in listed)


def test_what_a_client_says_is_as_long_as_what_a_real_one_says() -> None:
    body = running_info_body(7, 1)
    assert len(running_info(body).queues) == 8
    assert len(body) == pytest.approx(len(golden("running_info_307").body), rel=0.5)


def test_our_client_reads_what_it_serves() -> None:
    async def use(address: str) -> Any:
        async with ConnectionPool() as pool:
            broker = BrokerAdmin(pool, address)
            listed = await broker.connections(group_name(3))
            return len(listed.clients), await broker.running_info(group_name(3), client_id(3, 2))

    (members, info), _ = served(use)
    assert members == 3
    assert info.properties["clientRebalance"] == "true"


def test_the_floor_makes_every_call_and_no_more_at_once_than_told() -> None:
    calls = [(RequestCode.GET_CONSUMER_CONNECTION_LIST, {"consumerGroup": group_name(number)}) for number in range(20)]
    seconds, broker = served(lambda address: bare_seconds([address], [calls], 4))
    assert seconds > 0
    assert broker.most == 4
