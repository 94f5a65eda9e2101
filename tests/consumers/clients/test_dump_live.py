"""A real consumer whose listener sleeps: its thread dump names the listener, and a second one shows that it stands."""

import asyncio
import time
from pathlib import Path

import pytest

from consumers.clients.dumps import ThreadStack, grouped, threads_of, unmoved
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.codes import BrokerRefused
from consumers.rocketmq.wire.connection import ConnectionPool
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin

pytestmark = pytest.mark.live
TOPIC, GROUP, CLIENT = "dump_orders", "dump_sleepers", "127.0.0.1@dump-sleeper"
LISTENER = "consumeMessage("
# JPype 1.7: the Java frame from which Python is called.
HANDED_OVER = "hostInvoke"


def threads(cluster: RocketMQ) -> list[ThreadStack]:
    async def main() -> str:
        async with ConnectionPool() as pool:
            broker = BrokerAdmin(pool, cluster.brokers["broker-a"].address)
            return (await broker.running_info(GROUP, CLIENT, jstack=True)).jstack or ""

    return threads_of(asyncio.run(main()))


def is_held(thread: ThreadStack) -> bool:
    """Within the listener's own code, which no frame of Java stands for: the last one hands over to it."""
    return thread.is_working and HANDED_OVER in thread.frames[0]


def sleeping(cluster: RocketMQ) -> list[ThreadStack]:
    """Once the member is online and its listener holds the message."""
    deadline = time.monotonic() + 240
    while True:
        try:
            found = threads(cluster)
        except BrokerRefused as refusal:
            if "not online" not in str(refusal):
                raise
            found = []
        if any(is_held(one) for one in found):
            return found
        assert time.monotonic() < deadline, found
        time.sleep(0.5)


def test_the_dump_of_a_client_whose_listener_sleeps_names_it(
    rocketmq: RocketMQ, java_admin: JavaAdmin, rocketmq_jars: Path
) -> None:
    java_admin.create_topic(TOPIC, 1)
    java_admin.send(TOPIC, "broker-a", 0, 1)
    with JavaAdmin(rocketmq, rocketmq_jars, "dump-sleeper") as child:
        child.start_consumer(GROUP, TOPIC, "dump-sleeper", consume="held")
        before = sleeping(rocketmq)
        after = threads(rocketmq)
    first = grouped(after)[0]
    [worker] = first.threads
    assert worker.name.startswith("ConsumeMessageThread_")
    assert any(LISTENER in frame for frame in first.frames)
    assert worker.tid in unmoved(before, after)
