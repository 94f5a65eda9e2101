"""Addresses, as people write them and as brokers register them."""

import asyncio
import socket

import pytest

from consumers.rocketmq.wire.codes import Address, LocalProtocolError, parse_address, registered_address
from consumers.rocketmq.wire.connection import ConnectionPool
from tests.consumers.rocketmq.fake_server import answering, reply, served


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("broker-1:10911", Address("broker-1", 10911)),
        ("127.0.0.1:9876", Address("127.0.0.1", 9876)),
        (" namesrv.example.org:65535\n", Address("namesrv.example.org", 65535)),
        ("[::1]:1", Address("::1", 1)),
        ("[fe80::1%eth0]:9876", Address("fe80::1%eth0", 9876)),
    ],
)
def test_it_reads_an_address_and_writes_it_back(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert str(address) == text.strip()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "host:port"),
        ("broker", "host:port"),
        (":9876", "host:port"),
        ("[]:9876", "host:port"),
        ("a b:9876", "host:port"),
        ("::1:9876", "brackets"),
        ("http://broker:9876", "brackets"),
        ("broker:", "port between"),
        ("broker:0", "port between"),
        ("broker:65536", "port between"),
        ("broker:0000080", "port between"),
        ("broker:-1", "port between"),
        ("broker:9876;other:9876", "brackets"),
        ("broker:٩", "port between"),
        ("broker:" + "9" * 5000, "port between"),
    ],
)
def test_it_refuses_what_is_no_address(text: str, why: str) -> None:
    with pytest.raises(LocalProtocolError, match=why):
        parse_address(text)


@pytest.mark.parametrize("text", ["::1:10911", "[::1]:10911"])
def test_a_broker_may_have_registered_its_ipv6_address_without_brackets(text: str) -> None:
    assert registered_address(text) == Address("::1", 10911)


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as listener:
            listener.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="This machine has no IPv6 loopback")
@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_an_ipv6_host_is_reached(host: str) -> None:
    async def main() -> int:
        behaviour = answering(lambda request: reply(request, 17))
        async with served(behaviour, host="::1") as address, ConnectionPool() as pool:
            return (await pool.request(f"{host}:{address.rpartition(':')[2]}", 43, deadline_seconds=2)).code

    assert asyncio.run(main()) == 17


def test_a_host_name_is_reached() -> None:
    async def main() -> int:
        async with served(answering(lambda request: reply(request, 17))) as address, ConnectionPool() as pool:
            return (await pool.request(f"localhost:{address.rpartition(':')[2]}", 43, deadline_seconds=2)).code

    assert asyncio.run(main()) == 17
