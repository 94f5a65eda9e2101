"""Every call against a real RocketMQ 5.4.0 broker and name server."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import pytest

from consumers.rocketmq.admin import BrokerAdmin, NameServer
from consumers.rocketmq.names import topic_kind
from consumers.rocketmq.wire.codes import BrokerRefused, ResponseCode, mq_version_name
from consumers.rocketmq.wire.connection import Connection, ConnectionPool
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin

pytestmark = pytest.mark.live

TOPIC, GROUP = "wire_orders", "wire_billing"
Value = TypeVar("Value")


@dataclass(frozen=True)
class Asker:
    """Asks the one broker of `cluster`."""

    cluster: RocketMQ

    @property
    def address(self) -> str:
        return self.cluster.brokers["broker-a"].address

    def __call__(self, use: Callable[[BrokerAdmin], Awaitable[Value]]) -> Value:
        async def main() -> Value:
            async with ConnectionPool() as pool:
                return await use(BrokerAdmin(pool, self.address))

        return asyncio.run(main())

    def name_server(self, use: Callable[[NameServer], Awaitable[Value]]) -> Value:
        async def main() -> Value:
            async with ConnectionPool() as pool:
                return await use(NameServer(pool, [self.cluster.namesrv]))

        return asyncio.run(main())


@pytest.fixture(scope="module")
def ask(rocketmq: RocketMQ, java_admin: JavaAdmin) -> Asker:
    """A topic of 3 queues with 5, 6 and 7 messages; a group that has committed 2 and 4 in queues 0 and 1."""
    java_admin.create_topic(TOPIC, 3)
    java_admin.create_group(GROUP, orderly=True, retry_max_times=4)
    for queue_id in range(3):
        java_admin.send(TOPIC, "broker-a", queue_id, 5 + queue_id)
    java_admin.set_offset(GROUP, TOPIC, "broker-a", 0, 2)
    java_admin.set_offset(GROUP, TOPIC, "broker-a", 1, 4)
    return Asker(rocketmq)


def test_the_name_server_lists_the_broker(ask: Asker) -> None:
    info = ask.name_server(lambda server: server.cluster())
    assert [(broker.name, broker.master) for broker in info.brokers] == [("broker-a", ask.address)]
    assert info.clusters == {ask.cluster.cluster: ["broker-a"]}


def test_the_name_server_knows_the_route_of_a_topic(ask: Asker) -> None:
    route = ask.name_server(lambda server: server.route(TOPIC))
    assert [(queue.broker, queue.read_queues, queue.perm) for queue in route.queues] == [("broker-a", 3, 6)]


def test_the_name_server_refuses_an_unknown_topic(ask: Asker) -> None:
    with pytest.raises(BrokerRefused) as caught:
        ask.name_server(lambda server: server.route("wire_nowhere"))
    assert caught.value.code == ResponseCode.TOPIC_NOT_EXIST


def test_consumer_offsets_are_those_committed_and_no_others(ask: Asker) -> None:
    rows = ask(lambda broker: broker.consumer_offsets()).to_pylist()
    assert [(row["topic"], row["queue_id"], row["consumer_offset"]) for row in rows if row["group"] == GROUP] == [
        (TOPIC, 0, 2),
        (TOPIC, 1, 4),
    ]


def test_broker_offsets_come_in_bulk_and_leave_unknown_topics_out(ask: Asker) -> None:
    rows = ask(lambda broker: broker.broker_offsets([TOPIC, "wire_nowhere"])).to_pylist()
    assert sorted((row["topic"], row["broker"], row["queue_id"], row["broker_offset"]) for row in rows) == [
        (TOPIC, "broker-a", queue_id, 5 + queue_id) for queue_id in range(3)
    ]


def test_broker_offsets_of_one_topic_are_the_same(ask: Asker) -> None:
    one = ask(lambda broker: broker.broker_offsets_of(TOPIC)).sort_by("queue_id")
    assert one.equals(ask(lambda broker: broker.broker_offsets([TOPIC])).sort_by("queue_id"))


def test_asking_for_broker_offsets_creates_no_group(ask: Asker) -> None:
    async def use(broker: BrokerAdmin) -> set[str]:
        await broker.broker_offsets([TOPIC])
        return {group.name for group in (await broker.groups()).groups}

    assert "__consumerscope_none__" not in ask(use)


def test_topic_stats_have_min_max_and_the_newest_message(ask: Asker) -> None:
    stats = ask(lambda broker: broker.topic_stats(TOPIC))
    assert sorted((queue.queue_id, queue.min_offset, queue.max_offset) for queue in stats) == [
        (0, 0, 5),
        (1, 0, 6),
        (2, 0, 7),
    ]
    assert all(queue.last_update_at_ms for queue in stats)


def test_topic_stats_of_an_unknown_topic_are_refused(ask: Asker) -> None:
    with pytest.raises(BrokerRefused) as caught:
        ask(lambda broker: broker.topic_stats("wire_nowhere"))
    assert caught.value.code == ResponseCode.TOPIC_NOT_EXIST


def test_topics_are_as_they_were_created(ask: Asker) -> None:
    topics = {topic.name: topic for topic in ask(lambda broker: broker.topics()).topics}
    assert (topics[TOPIC].read_queues, topics[TOPIC].write_queues, topics[TOPIC].perm) == (3, 3, 6)
    assert topic_kind("SCHEDULE_TOPIC_XXXX") == "system"
    assert "SCHEDULE_TOPIC_XXXX" in topics


def test_groups_are_as_they_were_created(ask: Asker) -> None:
    groups = {group.name: group for group in ask(lambda broker: broker.groups()).groups}
    assert (groups[GROUP].orderly, groups[GROUP].retry_max_times, groups[GROUP].consume_enable) == (True, 4, True)
    assert groups[GROUP].retry_queue_nums == 1


def test_settings_name_the_broker(ask: Asker) -> None:
    assert ask(lambda broker: broker.config())["brokerName"] == "broker-a"


def test_every_answer_tells_the_broker_s_version(ask: Asker) -> None:
    async def use(broker: BrokerAdmin) -> int | None:
        await broker.delay_offsets()
        return broker.broker_version

    version = ask(use)
    assert version is not None
    assert mq_version_name(version) == "V5_4_0"


def test_single_offsets_agree_with_the_stats(ask: Asker) -> None:
    async def use(broker: BrokerAdmin) -> tuple[int, int]:
        return await broker.max_offset(TOPIC, 2), await broker.min_offset(TOPIC, 2)

    assert ask(use) == (7, 0)


def test_hundreds_of_pipelined_calls_find_their_answers(ask: Asker) -> None:
    async def main() -> list[str]:
        connection = await Connection.open(ask.address, deadline_seconds=5)
        calls = [
            connection.request(30, {"topic": TOPIC, "queueId": str(number % 3)}, deadline_seconds=5)
            for number in range(600)
        ]
        answers = await asyncio.gather(*calls)
        await connection.close()
        return [answer.ext_fields["offset"] for answer in answers]

    assert asyncio.run(main()) == ["5", "6", "7"] * 200


def test_min_offsets_are_read_one_by_one(ask: Asker) -> None:
    assert ask(lambda broker: broker.min_offsets([(TOPIC, 0), (TOPIC, 2)])) == [0, 0]


def test_a_group_without_members_is_offline(ask: Asker) -> None:
    assert not ask(lambda broker: broker.connections(GROUP)).online


def test_a_client_that_is_not_there_is_a_refusal(ask: Asker) -> None:
    with pytest.raises(BrokerRefused) as caught:
        ask(lambda broker: broker.running_info(GROUP, "127.0.0.1@nobody"))
    assert caught.value.code == ResponseCode.SYSTEM_ERROR


def test_an_unknown_request_is_a_refusal(ask: Asker) -> None:
    async def main() -> tuple[int, str | None]:
        async with ConnectionPool() as pool:
            answer = await pool.request(ask.address, 9999, deadline_seconds=5)
            return answer.code, answer.remark

    assert asyncio.run(main()) == (3, " request type 9999 not supported")
