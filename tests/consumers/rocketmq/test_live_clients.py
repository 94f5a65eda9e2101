"""What a real broker and real clients say of a group's members."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import pytest

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.client_bodies import RunningInfo
from consumers.rocketmq.wire.connection import ConnectionPool
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin

pytestmark = pytest.mark.live

TOPIC, GROUP, CROWD = "wire_tickets", "wire_clerks", "wire_crowd"
CLERK = "127.0.0.1@wire-clerk"
Value = TypeVar("Value")


def ask(cluster: RocketMQ, use: Callable[[BrokerAdmin], Awaitable[Value]]) -> Value:
    async def main() -> Value:
        async with ConnectionPool() as pool:
            return await use(BrokerAdmin(pool, cluster.brokers["broker-a"].address))

    return asyncio.run(main())


async def settled_info(broker: BrokerAdmin) -> RunningInfo:
    """The clerk's own view, once it owns both queues and has consumed what is in them."""
    deadline = time.monotonic() + 240
    while True:
        info = await broker.running_info(GROUP, CLERK)
        offsets = sorted(queue.commit_offset or 0 for queue in info.queues if queue.topic == TOPIC)
        if offsets == [3, 4] or time.monotonic() > deadline:
            return info
        await asyncio.sleep(0.5)


@pytest.fixture(scope="module")
def cluster(rocketmq: RocketMQ, java_admin: JavaAdmin) -> Iterator[RocketMQ]:
    """An orderly member that has consumed 3 and 4 messages, and a broadcasting one."""
    java_admin.create_topic(TOPIC, 2)
    for queue_id in range(2):
        java_admin.send(TOPIC, "broker-a", queue_id, 3 + queue_id)
    java_admin.start_consumer(GROUP, TOPIC, "wire-clerk", orderly=True)
    java_admin.start_consumer(CROWD, TOPIC, "wire-listener", broadcasting=True)
    ask(rocketmq, settled_info)
    yield rocketmq
    java_admin.stop_consumer("wire-clerk")
    java_admin.stop_consumer("wire-listener")


def test_the_broker_lists_the_member(cluster: RocketMQ) -> None:
    connections = ask(cluster, lambda broker: broker.connections(GROUP))
    assert connections.online
    assert [(client.client_id, client.language, client.version) for client in connections.clients] == [
        (CLERK, "JAVA", 493)
    ]
    assert (connections.consume_type, connections.message_model) == ("CONSUME_PASSIVELY", "CLUSTERING")
    assert {subscription.topic for subscription in connections.subscriptions} == {TOPIC, f"%RETRY%{GROUP}"}


def test_the_broker_tells_broadcasting_groups(cluster: RocketMQ) -> None:
    assert ask(cluster, lambda broker: broker.connections(CROWD)).message_model == "BROADCASTING"


def test_the_member_tells_its_queues(cluster: RocketMQ) -> None:
    info = ask(cluster, lambda broker: broker.running_info(GROUP, CLERK))
    assert sorted(
        (queue.broker, queue.queue_id, queue.commit_offset, queue.cached_min, queue.cached_count)
        for queue in info.queues
        if queue.topic == TOPIC
    ) == [("broker-a", 0, 3, None, 0), ("broker-a", 1, 4, None, 0)]
    assert all(queue.last_pull_ms and queue.last_lock_ms for queue in info.queues if queue.topic == TOPIC)


def test_the_member_tells_its_settings_and_subscriptions(cluster: RocketMQ) -> None:
    info = ask(cluster, lambda broker: broker.running_info(GROUP, CLERK))
    assert info.properties["PROP_CONSUMEORDERLY"] == "true"
    assert "AllocateMessageQueueAveragely" in info.properties["allocateMessageQueueStrategy"]
    assert TOPIC in {subscription.topic for subscription in info.subscriptions}
    assert info.status[TOPIC].consume_rt is not None


def test_the_member_dumps_its_threads_when_asked(cluster: RocketMQ) -> None:
    info = ask(cluster, lambda broker: broker.running_info(GROUP, CLERK, jstack=True))
    assert info.jstack is not None
    assert "ConsumeMessageThread" in info.jstack
