"""What name servers tell clients that brokers allow: one call for all of them, and nothing guessed."""

import asyncio
import json

import pytest

from consumers.models import Broker
from consumers.polling.brokers.remembered import RoutedPermission, read_routed_permissions
from consumers.polling.record.brokers import record_routed_permissions
from consumers.rocketmq.wire.codes import RequestCode, ResponseCode
from consumers.rocketmq.wire.connection import ConnectionPool
from tests.consumers.rocketmq.fake_server import answering, reply, served
from tests.readings import at
from tests.world import a_broker, a_cluster


def route(**permissions):
    queues = [
        {"brokerName": name.replace("_", "-"), "perm": perm, "readQueueNums": 1, "writeQueueNums": 1}
        for name, perm in permissions.items()
    ]
    return json.dumps({"brokerDatas": [], "queueDatas": queues}).encode()


def answers(*brokers, code=ResponseCode.SUCCESS, **fields):
    """What is found of `brokers` where the name server gives this answer, and what it was asked."""
    asked = []

    def answer(command):
        asked.append((command.code, command.ext_fields["topic"]))
        return reply(command, code, **fields)

    async def ask():
        async with served(answering(answer)) as address, ConnectionPool() as pool:
            return await read_routed_permissions(pool, [address], brokers, 1.0)

    return asyncio.run(ask()), asked


@pytest.mark.parametrize(
    ("sentence", "perm", "expected"),
    [
        ("all is allowed", 6, 6),
        ("writing was taken away", 4, 4),
        ("nothing is", 0, 0),
        ("the bit that brokers inherit by says nothing", 7, 6),
    ],
)
def test_it_takes_what_the_name_server_routes(sentence, perm, expected):
    found, _ = answers("broker-a", body=route(broker_a=perm))
    assert found == [RoutedPermission("broker-a", expected)]


def test_one_call_tells_of_every_broker():
    found, asked = answers("broker-a", "broker-b", body=route(broker_b=4, broker_a=6))
    assert found == [RoutedPermission("broker-a", 6), RoutedPermission("broker-b", 4)]
    assert asked == [(RequestCode.GET_ROUTEINFO_BY_TOPIC, "SELF_TEST_TOPIC")]


def test_a_broker_without_a_route_is_not_known():
    found, _ = answers("broker-a", "broker-b", body=route(broker_a=6))
    assert [(told.permission, told.error is None) for told in found] == [(6, True), (None, False)]


@pytest.mark.parametrize("code", [ResponseCode.TOPIC_NOT_EXIST, ResponseCode.SYSTEM_ERROR])
def test_a_refusal_is_said_of_every_broker_and_nothing_is_guessed(code):
    found, _ = answers("broker-a", "broker-b", code=code, remark="no such route")
    assert [told.permission for told in found] == [None, None]
    assert all("no such route" in told.error for told in found)


@pytest.mark.django_db
def test_a_refusal_leaves_what_was_known_with_its_reason():
    cluster = a_cluster(read_at=None)
    a_broker(cluster)
    record_routed_permissions(cluster, [RoutedPermission("broker-a", 4)], at(0))
    record_routed_permissions(cluster, [RoutedPermission("broker-a", error="no name server")], at(30))
    row = Broker.objects.get()
    assert (row.routed_permission, row.routed_at, row.routed_error) == (4, at(0), "no name server")
    record_routed_permissions(cluster, [RoutedPermission("broker-a", 6)], at(60))
    row.refresh_from_db()
    assert (row.routed_permission, row.routed_at, row.routed_error) == (6, at(60), None)
