"""Moving offsets on real brokers: one that moves them itself, and an older one that only tells its members."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.codes import BrokerRefused, RemoteProtocolError
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.writes import EARLIEST_MS, LATEST_MS, NotApplied, OffsetWrites
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin

pytestmark = pytest.mark.live

TOPIC, GROUP, WAITERS, IDLERS = "wire_moves", "wire_movers", "wire_waiters", "wire_idlers"
Value = TypeVar("Value")
Use = Callable[[OffsetWrites, BrokerAdmin], Awaitable[Value]]
Ask = Callable[[Use[object]], object]


def asking(cluster: RocketMQ) -> Ask:
    def run(use: Use[Value]) -> Value:
        async def main() -> Value:
            address = cluster.brokers["broker-a"].address
            async with ConnectionPool() as pool:
                return await use(OffsetWrites(pool, address), BrokerAdmin(pool, address))

        return asyncio.run(main())

    return run


def java_offset(admin: JavaAdmin, group: str, queue_id: int) -> int | None:
    """As RocketMQ's own client is told by GET_ALL_CONSUMER_OFFSET (43)."""
    table = re.search(rf'"{TOPIC}@{group}":\s*{{([^}}]*)}}', admin.ask("broker-a", 43))
    offsets = {} if table is None else dict(pair.split(":") for pair in table[1].split(","))
    return None if str(queue_id) not in offsets else int(offsets[str(queue_id)])


def filled(admin: JavaAdmin) -> None:
    """Queue 0 of the topic holds six messages and queue 1 two."""
    admin.create_topic(TOPIC, 2)
    admin.send(TOPIC, "broker-a", 0, 6)
    admin.send(TOPIC, "broker-a", 1, 2)


@pytest.fixture(scope="module")
def ask(rocketmq: RocketMQ, java_admin: JavaAdmin) -> Ask:
    """The group has no member, and committed 5 in queue 0."""
    filled(java_admin)
    java_admin.create_group(GROUP)
    java_admin.set_offset(GROUP, TOPIC, "broker-a", 0, 5)
    return asking(rocketmq)


def test_an_exact_reset_moves_a_group_without_members_and_stays_pending(ask: Ask, java_admin: JavaAdmin) -> None:
    assert ask(lambda writes, _: writes.reset_exact(GROUP, TOPIC, 0, 2)) == 2
    assert ask(lambda _, broker: broker.consumer_offset(GROUP, TOPIC, 0)) == 2
    assert java_offset(java_admin, GROUP, 0) == 2
    with pytest.raises(NotApplied):
        ask(lambda writes, _: writes.commit(GROUP, TOPIC, 0, 4))
    assert java_offset(java_admin, GROUP, 0) == 2


def test_a_queue_without_a_commit_gets_one(ask: Ask, java_admin: JavaAdmin) -> None:
    java_admin.create_group("wire_newcomers")
    assert ask(lambda writes, _: writes.reset_exact("wire_newcomers", TOPIC, 1, 1)) == 1
    assert (java_offset(java_admin, "wire_newcomers", 0), java_offset(java_admin, "wire_newcomers", 1)) == (None, 1)


@pytest.mark.parametrize(("offset", "accepted"), [(0, True), (6, True), (7, True), (8, False)])
def test_an_exact_reset_is_refused_beyond_one_above_max(ask: Ask, offset: int, accepted: bool) -> None:
    if accepted:
        assert ask(lambda writes, _: writes.reset_exact(GROUP, TOPIC, 0, offset)) == offset
    else:
        with pytest.raises(BrokerRefused, match="not in consume queue range"):
            ask(lambda writes, _: writes.reset_exact(GROUP, TOPIC, 0, offset))


@pytest.mark.parametrize(
    ("group", "topic", "why"),
    [("wire_nobody", TOPIC, "SUBSCRIPTION_GROUP_NOT_EXIST"), (GROUP, "wire_nowhere", "TOPIC_NOT_EXIST")],
)
def test_an_unknown_group_or_topic_is_refused(ask: Ask, group: str, topic: str, why: str) -> None:
    with pytest.raises(BrokerRefused, match=why):
        ask(lambda writes, _: writes.reset_exact(group, topic, 0, 0))
    with pytest.raises(BrokerRefused, match=why):
        ask(lambda writes, _: writes.commit(group, topic, 0, 0))


def test_a_broker_that_moves_offsets_itself_takes_a_time_too(ask: Ask, java_admin: JavaAdmin) -> None:
    assert ask(lambda writes, _: writes.reset_by_time(GROUP, TOPIC, LATEST_MS)) == {0: 6, 1: 2}
    assert ask(lambda writes, _: writes.reset_by_time(GROUP, TOPIC, EARLIEST_MS)) == {0: 0, 1: 0}
    assert (java_offset(java_admin, GROUP, 0), java_offset(java_admin, GROUP, 1)) == (0, 0)


@pytest.fixture(scope="module")
def old(older_rocketmq: tuple[str, RocketMQ], rocketmq_jars: Path) -> Iterator[tuple[Ask, JavaAdmin]]:
    """The movers committed 5 in queue 0. Waiters and idlers have a member each, that has everything behind it."""
    _, cluster = older_rocketmq
    with JavaAdmin(cluster, rocketmq_jars, "java-mover") as admin:
        filled(admin)
        admin.create_group(GROUP)
        admin.set_offset(GROUP, TOPIC, "broker-a", 0, 5)
        for group in (WAITERS, IDLERS):
            for queue_id, offset in ((0, 6), (1, 2)):
                admin.set_offset(group, TOPIC, "broker-a", queue_id, offset)
            admin.start_consumer(group, TOPIC, group)
        ask = asking(cluster)
        wait_for(lambda: ask(owned_queues(WAITERS)) == ask(owned_queues(IDLERS)) == {0, 1})
        yield ask, admin


def owned_queues(group: str) -> Use[set[int]]:
    async def use(_: OffsetWrites, broker: BrokerAdmin) -> set[int]:
        info = await broker.running_info(group, f"127.0.0.1@{group}")
        return {queue.queue_id for queue in info.queues if queue.topic == TOPIC}

    return use


def wait_for(came: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 240
    while not came():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_without_members_an_older_broker_takes_commits_only(old: tuple[Ask, JavaAdmin]) -> None:
    ask, admin = old
    # Without a commit in each queue it does not even look for members.
    ask(lambda writes, _: writes.commit(GROUP, TOPIC, 1, 1))
    for refused in (
        lambda writes, _: writes.reset_exact(GROUP, TOPIC, 0, 2),
        lambda writes, _: writes.reset_by_time(GROUP, TOPIC, EARLIEST_MS),
    ):
        with pytest.raises(BrokerRefused, match="CONSUMER_NOT_ONLINE"):
            ask(refused)
    assert (java_offset(admin, GROUP, 0), java_offset(admin, GROUP, 1)) == (5, 1)
    ask(lambda writes, _: writes.commit(GROUP, TOPIC, 0, 2))
    assert (java_offset(admin, GROUP, 0), java_offset(admin, GROUP, 1)) == (2, 1)


def test_an_older_broker_tells_its_members_a_time_and_they_follow(old: tuple[Ask, JavaAdmin]) -> None:
    ask, admin = old
    assert ask(lambda writes, _: writes.reset_by_time(WAITERS, TOPIC, EARLIEST_MS)) == {0: 0, 1: 0}
    wait_for(lambda: java_offset(admin, WAITERS, 0) in range(6))


def test_an_exact_reset_that_an_older_broker_misunderstands_leaves_members_where_they_are(
    old: tuple[Ask, JavaAdmin],
) -> None:
    ask, admin = old
    with pytest.raises(RemoteProtocolError, match="queue 0 at 6, queue 1 at 2: the broker does not do"):
        ask(lambda writes, _: writes.reset_exact(IDLERS, TOPIC, 0, 2))
    assert (java_offset(admin, IDLERS, 0), java_offset(admin, IDLERS, 1)) == (6, 2)
