"""Name servers, asked in their order."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from consumers.rocketmq.name_server import Broker, ClusterInfo, NameServer, QueueRoute, Route
from consumers.rocketmq.wire.codes import (
    BrokerRefused,
    DeadlineExceeded,
    LocalProtocolError,
    NameServersFailed,
    RemoteProtocolError,
    ResponseCode,
    Unreachable,
)
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import Command
from tests.consumers.rocketmq.fake_server import Behaviour, answering, reply, served, silence
from tests.consumers.rocketmq.golden import golden

Value = TypeVar("Value")
NOBODY = "127.0.0.1:1"
BROKER = Broker("broker-a", "demo", {0: "127.0.0.1:27675"})


def answer_of(name: str) -> Behaviour:
    answer = golden(name)
    return answering(lambda request: reply(request, answer.code, body=answer.body, remark=answer.remark))


def ask(behaviour: Behaviour, use: Callable[[NameServer], Awaitable[Value]], *before: str) -> Value:
    async def main() -> Value:
        async with served(behaviour) as address, ConnectionPool() as pool:
            return await use(NameServer(pool, [*before, address]))

    return asyncio.run(main())


def test_it_tells_the_brokers_of_a_cluster() -> None:
    info = ask(answer_of("cluster_106"), lambda server: server.cluster())
    assert info == ClusterInfo(brokers=[BROKER], clusters={"demo": ["broker-a"]})


def test_it_tells_where_a_topic_s_queues_are() -> None:
    route = ask(answer_of("route_105"), lambda server: server.route("orders"))
    assert route == Route("orders", [BROKER], [QueueRoute("broker-a", 4, 4, 6)], order_topic_conf=None)


@pytest.mark.parametrize(
    ("addresses", "master"), [('{0:"a:1",1:"b:1"}', "a:1"), ('{"0":"a:1"}', "a:1"), ('{1:"b:1"}', None), ("{}", None)]
)
def test_a_broker_without_number_0_has_no_master(addresses: str, master: str | None) -> None:
    broker = f'{{"brokerAddrs":{addresses},"brokerName":"x","cluster":"c"}}'
    body = f'{{"brokerAddrTable":{{"x":{broker}}},"clusterAddrTable":{{"c":["x"]}}}}'.encode()
    info = ask(answering(lambda request: reply(request, body=body)), lambda server: server.cluster())
    assert info.brokers[0].master == master


def test_an_unknown_topic_is_an_answer() -> None:
    with pytest.raises(BrokerRefused) as caught:
        ask(answer_of("route_unknown_105"), lambda server: server.route("nowhere"))
    assert caught.value.code == ResponseCode.TOPIC_NOT_EXIST


def test_it_asks_the_next_one_where_one_does_not_answer() -> None:
    info = ask(answer_of("cluster_106"), lambda server: server.cluster(), NOBODY)
    assert info.brokers == [BROKER]


@pytest.mark.parametrize(
    ("behaviour", "failure"),
    [
        pytest.param(silence, DeadlineExceeded, id="silence"),
        pytest.param(answering(lambda request: reply(request, body=b"{")), RemoteProtocolError, id="garbage"),
        pytest.param(answering(lambda request: reply(request, 2)), BrokerRefused, id="a busy server"),
        pytest.param(
            answering(lambda request: reply(request, body=b'{"brokerAddrTable":{}}')), RemoteProtocolError, id="half"
        ),
    ],
)
def test_it_keeps_the_failure_of_each(behaviour: Behaviour, failure: type[Exception]) -> None:
    with pytest.raises(NameServersFailed) as caught:
        ask(behaviour, lambda server: server.cluster(deadline_seconds=2.0), NOBODY)
    first, second = caught.value.failures
    assert (type(first), isinstance(second, failure)) == (Unreachable, True)
    assert all(each.address is not None for each in caught.value.failures)


def test_all_of_them_share_one_deadline() -> None:
    async def main() -> NameServersFailed:
        async with served(silence) as one, served(silence) as other, ConnectionPool() as pool:
            with pytest.raises(NameServersFailed) as caught:
                await NameServer(pool, [one, other]).cluster(deadline_seconds=0.4)
            return caught.value

    within = [failure.sentence.rpartition("within ")[2] for failure in asyncio.run(main()).failures]
    assert all(0 < float(seconds.removesuffix(" s")) <= 0.2 for seconds in within)
    assert len(within) == 2


def test_it_tells_which_one_answered() -> None:
    async def main() -> bool:
        async with served(answer_of("cluster_106")) as address, ConnectionPool() as pool:
            server = NameServer(pool, [NOBODY, address])
            await server.cluster()
            return server.answered_by == address

    assert asyncio.run(main())


@pytest.mark.parametrize("address", ["nonsense", "a:b"])
def test_a_bad_address_is_a_failure_too(address: str) -> None:
    assert ask(answer_of("cluster_106"), lambda server: server.cluster(), address).brokers == [BROKER]


def test_it_wants_an_address() -> None:
    with pytest.raises(LocalProtocolError, match="no address"):
        NameServer(ConnectionPool(), [])


def test_it_names_the_request_and_the_topic() -> None:
    seen: list[Command] = []
    answer = golden("route_105")

    def note(request: Command) -> Command:
        seen.append(request)
        return reply(request, body=answer.body)

    ask(answering(note), lambda server: server.route("orders"))
    assert [(request.code, dict(request.ext_fields)) for request in seen] == [(105, {"topic": "orders"})]
