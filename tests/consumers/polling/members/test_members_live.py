"""What a reading tells of real members: two processes under one id, and members whose queues the broker shares out."""

import asyncio
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from consumers.polling.members.collected import Rotation, collect_members
from consumers.polling.members.membership import AskedBroker, Budget, Silences, Turn
from consumers.polling.reading import ClientReading, MembersReading
from consumers.rocketmq.wire.connection import ConnectionPool
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin

pytestmark = pytest.mark.live

TOPIC, GIVEN, TWINS = "members_orders", "members_given", "members_twins"
BROKER, TWIN = "broker-a", "127.0.0.1@members-twin"
# A member looks again at what it is given every 20 s (rocketmq.client.rebalance.waitInterval).
SETTLED_SECONDS, LATELY_SECONDS = 240.0, 120.0


def read(cluster: RocketMQ) -> MembersReading:
    async def main() -> MembersReading:
        async with ConnectionPool() as pool:
            turn = Turn(pool, Budget(100, 100), datetime.now(UTC), 10.0)
            brokers = [AskedBroker(BROKER, cluster.brokers[BROKER].address)]
            return await collect_members(turn, "one", brokers, None, Rotation([GIVEN, TWINS]), Silences())

    return asyncio.run(main())


def clients(reading: MembersReading) -> list[ClientReading]:
    return [client for client in reading.clients if client.group == GIVEN]


def held(client: ClientReading) -> list[int]:
    return sorted(queue.queue_id for queue in client.queues if queue.topic == TOPIC and not queue.dropped)


@pytest.fixture(scope="module")
def reading(rocketmq: RocketMQ, rocketmq_jars: Path, java_admin: JavaAdmin) -> Iterator[MembersReading]:
    """Once both members hold two of the four queues that the broker gives them."""
    java_admin.create_topic(TOPIC, 4)
    with JavaAdmin(rocketmq, rocketmq_jars, "members-twin") as other:
        other.start_consumer(TWINS, TOPIC, "members-twin")
        java_admin.start_consumer(TWINS, TOPIC, "members-twin")
        for instance in ("members-1", "members-2"):
            java_admin.start_consumer(GIVEN, TOPIC, instance, pops=True)
        deadline = time.monotonic() + SETTLED_SECONDS
        found = read(rocketmq)
        while [len(held(client)) for client in clients(found)] != [2, 2]:
            assert time.monotonic() < deadline, found.clients
            time.sleep(0.5)
            found = read(rocketmq)
        yield found
    for instance in ("members-twin", "members-1", "members-2"):
        java_admin.stop_consumer(instance)


def test_members_hold_what_the_broker_gives_them(reading: MembersReading) -> None:
    for client in clients(reading):
        given = client.broker_assigned
        assert given is not None, client.broker_assigned_error
        assert {(queue["topic"], queue["broker"], queue["mode"]) for queue in given} == {(TOPIC, BROKER, "PULL")}
        assert [queue["queue_id"] for queue in given] == held(client)


def test_two_processes_under_one_id_are_two_connections_of_one_member(reading: MembersReading) -> None:
    [twins] = [answer for answer in reading.groups if answer.group == TWINS]
    [member] = twins.members
    assert member.client_id == TWIN
    assert len(set(member.connections[BROKER])) == 2


def test_the_newest_change_is_dated_by_a_clock_of_today(reading: MembersReading) -> None:
    [given] = [answer for answer in reading.groups if answer.group == GIVEN]
    said = [client.sub_version for client in clients(reading)]
    assert given.sub_version in said
    assert abs((datetime.now(UTC) - max(filter(None, said))).total_seconds()) < LATELY_SECONDS


def test_members_that_subscribe_alike_say_the_same_text(reading: MembersReading) -> None:
    assert [client.subscription for client in clients(reading)] == [f"{TOPIC} TAG *"] * 2
