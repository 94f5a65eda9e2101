"""RocketMQ's own clients as tests use them: what they do shows at the broker."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.connection import ConnectionPool
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin

pytestmark = pytest.mark.live


def wait_for(is_so: Callable[[], bool], what: str, seconds: float = 360) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.3)


def offsets(cluster: RocketMQ, group: str, topic: str) -> dict[int, int]:
    """Queue id → committed offset."""

    async def ask() -> dict[int, int]:
        async with ConnectionPool() as pool:
            table = await BrokerAdmin(pool, cluster.brokers["broker-a"].address).consumer_offsets()
        rows = [row for row in table.to_pylist() if (row["group"], row["topic"]) == (group, topic)]
        return {row["queue_id"]: row["consumer_offset"] for row in rows}

    return asyncio.run(ask())


def test_an_offset_is_set_by_rocketmqs_own_admin(rocketmq: RocketMQ, java_admin: JavaAdmin) -> None:
    java_admin.create_topic("ClientsSet", 2)
    java_admin.create_group("clients-set")
    java_admin.send("ClientsSet", "broker-a", 1, 9)
    java_admin.set_offset("clients-set", "ClientsSet", "broker-a", 1, 4)
    assert offsets(rocketmq, "clients-set", "ClientsSet") == {1: 4}


def test_a_member_that_leaves_has_committed_what_it_consumed(rocketmq: RocketMQ, java_admin: JavaAdmin) -> None:
    java_admin.create_topic("ClientsLeave", 2)
    java_admin.send("ClientsLeave", "broker-a", 0, 3)
    java_admin.send("ClientsLeave", "broker-a", 1, 5)
    java_admin.start_consumer("clients-leave", "ClientsLeave", "clients-leave-1")
    wait_for(lambda: offsets(rocketmq, "clients-leave", "ClientsLeave") == {0: 3, 1: 5}, "the member committed nothing")
    java_admin.stop_consumer("clients-leave-1")
    assert offsets(rocketmq, "clients-leave", "ClientsLeave") == {0: 3, 1: 5}


def test_an_orderly_member_stays_before_a_message_that_fails(rocketmq: RocketMQ, java_admin: JavaAdmin) -> None:
    java_admin.create_topic("ClientsOrderly", 1)
    java_admin.create_group("clients-orderly", orderly=True)
    java_admin.send("ClientsOrderly", "broker-a", 0, 4)
    java_admin.start_consumer("clients-orderly", "ClientsOrderly", "clients-orderly-1", consume="none", orderly=True)
    wait_for(lambda: offsets(rocketmq, "clients-orderly", "ClientsOrderly") == {0: 0}, "the member never came")
    java_admin.stop_consumer("clients-orderly-1")
    assert offsets(rocketmq, "clients-orderly", "ClientsOrderly") == {0: 0}


def test_a_broadcasting_member_keeps_its_offsets_in_a_file(java_admin: JavaAdmin) -> None:
    java_admin.create_topic("ClientsAll", 1)
    java_admin.send("ClientsAll", "broker-a", 0, 2)
    java_admin.start_consumer("clients-all", "ClientsAll", "clients-all-1", broadcasting=True)
    folder: Path = java_admin.folder / "rocketmq_offsets" / "127.0.0.1@clients-all-1" / "clients-all"
    wait_for(lambda: (folder / "offsets.json").is_file(), "no offset file was written")
    java_admin.stop_consumer("clients-all-1")


def test_a_killed_child_takes_its_members_with_it(rocketmq: RocketMQ, rocketmq_jars: Path) -> None:
    with JavaAdmin(rocketmq, rocketmq_jars, "clients-killed") as other:
        other.create_topic("ClientsKilled", 1)
        other.start_consumer("clients-killed", "ClientsKilled", "clients-killed-1")
        wait_for(lambda: members(rocketmq, "clients-killed") == ["127.0.0.1@clients-killed-1"], "it never joined")
        other.kill()
        wait_for(lambda: members(rocketmq, "clients-killed") == [], "it is still listed")


def members(cluster: RocketMQ, group: str) -> list[str]:
    async def ask() -> list[str]:
        async with ConnectionPool() as pool:
            answer = await BrokerAdmin(pool, cluster.brokers["broker-a"].address).connections(group)
        return sorted(client.client_id for client in answer.clients)

    return asyncio.run(ask())


def test_rocketmqs_own_strategy_gives_queues_out(java_admin: JavaAdmin) -> None:
    queues = [("T", "broker-a", queue_id) for queue_id in range(5)]
    given = java_admin.allocate("AllocateMessageQueueAveragely", queues, ["c1", "c2"], "c1")
    assert given == [("T", "broker-a", 0), ("T", "broker-a", 1), ("T", "broker-a", 2)]
