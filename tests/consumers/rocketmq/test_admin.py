"""What each call asks for, over a real socket, and what becomes of the answer."""

import asyncio
import json
from typing import Any

import pytest

from consumers.rocketmq.admin import MAX_TOPIC_LIST, BrokerAdmin
from consumers.rocketmq.bodies.client_bodies import GroupConnections
from consumers.rocketmq.bodies.config_bodies import MinuteStatistic
from consumers.rocketmq.wire.codes import BrokerRefused, GoAway, LocalProtocolError, RemoteProtocolError, Unreachable
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import Command
from tests.consumers.rocketmq.asking import Use, ask, golden_answer
from tests.consumers.rocketmq.fake_server import answering, reply
from tests.consumers.rocketmq.golden import golden

UNUSED = {"consumerGroup": "__consumerscope_none__"}


@pytest.mark.parametrize(
    ("use", "name", "code", "ext_fields"),
    [
        (lambda broker: broker.consumer_offsets(), "consumer_offsets_43", 43, {}),
        (lambda broker: broker.broker_offsets(["a", "b"]), "broker_offsets_208", 208, {**UNUSED, "topicList": "a;b"}),
        (lambda broker: broker.broker_offsets_of("a"), "broker_offsets_208", 208, {**UNUSED, "topic": "a"}),
        (lambda broker: broker.topic_stats("T"), "topic_stats_202", 202, {"topic": "T"}),
        (lambda broker: broker.topics(), "topics_21", 21, {}),
        (lambda broker: broker.groups(), "groups_201", 201, {}),
        (lambda broker: broker.delay_offsets(), "delay_offsets_45", 45, {}),
        (lambda broker: broker.max_offset("T", 1), "max_offset_30", 30, {"topic": "T", "queueId": "1"}),
        (lambda broker: broker.min_offset("T", 1), "max_offset_30", 31, {"topic": "T", "queueId": "1"}),
        (lambda broker: broker.connections("g"), "connections_203", 203, {"consumerGroup": "g"}),
        (
            lambda broker: broker.running_info("g", "c"),
            "running_info_307",
            307,
            {"consumerGroup": "g", "clientId": "c", "jstackEnable": "false"},
        ),
        (
            lambda broker: broker.running_info("g", "c", jstack=True),
            "running_info_307",
            307,
            {"consumerGroup": "g", "clientId": "c", "jstackEnable": "true"},
        ),
    ],
)
def test_it_asks_for(use: Use, name: str, code: int, ext_fields: dict[str, str]) -> None:
    seen: list[Command] = []
    assert ask(golden_answer(name, seen), use) is not None
    assert [(request.code, dict(request.ext_fields)) for request in seen] == [(code, ext_fields)]


def test_it_asks_in_the_body_what_a_broker_gives_a_client() -> None:
    seen: list[Command] = []

    def answer(request: Command) -> Command:
        seen.append(request)
        return reply(request, body=b'{"messageQueueAssignments":[]}')

    assert ask(answering(answer), lambda broker: broker.query_assignment("g", "T", "c", "AVG", "CLUSTERING")) == []
    wish = {"topic": "T", "consumerGroup": "g", "clientId": "c", "strategyName": "AVG", "messageModel": "CLUSTERING"}
    assert [(request.code, dict(request.ext_fields), json.loads(request.body)) for request in seen] == [(400, {}, wish)]


def test_it_asks_for_settings() -> None:
    behaviour = answering(lambda request: reply(request, body=b"brokerName=broker-a\n"))
    assert ask(behaviour, lambda broker: broker.config()) == {"brokerName": "broker-a"}


def test_a_group_without_members_is_an_answer() -> None:
    connections = ask(golden_answer("connections_offline_203"), lambda broker: broker.connections("nobody"))
    assert connections == GroupConnections(online=False)


@pytest.mark.parametrize(("code", "kind"), [(1, BrokerRefused), (16, BrokerRefused), (1500, GoAway)])
def test_any_other_code_is_a_refusal(code: int, kind: type[BrokerRefused]) -> None:
    async def use(broker: BrokerAdmin) -> None:
        with pytest.raises(kind) as caught:
            await broker.connections("g")
        assert (caught.value.code, caught.value.request_code) == (code, 203)
        assert caught.value.address == broker.address

    ask(answering(lambda request: reply(request, code)), use)


def test_an_answer_that_cannot_be_read_names_its_broker() -> None:
    async def use(broker: BrokerAdmin) -> None:
        with pytest.raises(RemoteProtocolError) as caught:
            await broker.consumer_offsets()
        assert str(caught.value).startswith(f"{broker.address}: in the answer to GET_ALL_CONSUMER_OFFSET (43)")

    ask(answering(lambda request: reply(request, body=b"{}")), use)


def test_it_remembers_the_version_of_the_broker() -> None:
    async def use(broker: BrokerAdmin) -> tuple[int | None, int | None]:
        before = broker.broker_version
        await broker.delay_offsets()
        return before, broker.broker_version

    body = golden("delay_offsets_45").body
    assert ask(answering(lambda request: reply(request, body=body, version=401)), use) == (None, 401)


def test_it_asks_for_the_counts_of_the_timer_wheel() -> None:
    asked: list[Command] = []

    def answer(request: Command) -> Command:
        asked.append(request)
        return reply(request, body=b'{"timingCount":{"T":{"count":4,"timeStamp":1}}}')

    assert ask(answering(answer), lambda broker: broker.timer_counts()) == {"T": 4}
    assert (asked[0].code, dict(asked[0].ext_fields)) == (61, {})


STATISTIC = b'{"statsDay":{"avgpt":0,"sum":0,"tps":0},"statsMinute":{"avgpt":1,"sum":12,"tps":0.2}}'


def test_it_asks_for_what_a_broker_counted_in_its_last_minute() -> None:
    asked: list[Command] = []

    def answer(request: Command) -> Command:
        asked.append(request)
        return reply(request, body=STATISTIC)

    found = ask(answering(answer), lambda broker: broker.statistic("SNDBCK_PUT_NUMS", "Orders@billing"))
    assert found == MinuteStatistic(12, 0.2)
    wanted = {"statsName": "SNDBCK_PUT_NUMS", "statsKey": "Orders@billing"}
    assert (asked[0].code, dict(asked[0].ext_fields)) == (315, wanted)


def test_what_a_broker_has_never_counted_is_none() -> None:
    def never(request: Command) -> Command:
        return reply(request, code=1, remark="The stats <SNDBCK_PUT_NUMS> <Orders@billing> not exist")

    assert ask(answering(never), lambda broker: broker.statistic("SNDBCK_PUT_NUMS", "Orders@billing")) is None


def test_another_failure_of_a_count_is_none_of_the_broker_s_zeros() -> None:
    with pytest.raises(BrokerRefused, match="VIEW_BROKER_STATS_DATA"):
        ask(
            answering(lambda request: reply(request, code=16, remark="no permission")),
            lambda broker: broker.statistic("TOPIC_PUT_SIZE", "Orders"),
        )


@pytest.mark.parametrize(("version", "why"), [(476, "V5_3_2_SNAPSHOT"), (401, "V4_9_4"), (None, "of unknown version")])
def test_an_empty_table_of_a_broker_that_knows_no_bulk_form_is_not_believed(version: int | None, why: str) -> None:
    empty = b'{"consumeTps":0.0,"offsetTable":{}}'
    with pytest.raises(BrokerRefused, match=f"the broker is {why}.*5.3.2"):
        ask(
            answering(lambda request: reply(request, body=empty, version=version)),
            lambda broker: broker.broker_offsets(["T"]),
        )


def test_a_long_list_of_topics_takes_several_calls() -> None:
    seen: list[Command] = []
    topics = [f"topic-{number:06}" for number in range(50_000)]
    table = ask(golden_answer("broker_offsets_208", seen), lambda broker: broker.broker_offsets(topics))
    lists = [request.ext_fields["topicList"] for request in seen]
    assert len(lists) == 3
    assert max(map(len, lists)) <= MAX_TOPIC_LIST
    assert ";".join(lists).split(";") == topics
    assert table.num_rows == 3 * 7


def test_no_topic_takes_no_call() -> None:
    seen: list[Command] = []
    table = ask(golden_answer("broker_offsets_208", seen), lambda broker: broker.broker_offsets([]))
    assert (table.num_rows, seen) == (0, [])


@pytest.mark.parametrize("topic", ["", "a;b"])
def test_a_topic_that_would_be_read_as_another_is_not_asked_for(topic: str) -> None:
    with pytest.raises(LocalProtocolError):
        ask(golden_answer("broker_offsets_208"), lambda broker: broker.broker_offsets(["a", topic]))


def test_min_offsets_come_in_the_order_asked_a_failure_in_its_place() -> None:
    def answer(request: Command) -> Command:
        queue_id = request.ext_fields["queueId"]
        return reply(request, 1) if queue_id == "2" else reply(request, ext_fields={"offset": f"{queue_id}0"})

    offsets = ask(answering(answer), lambda broker: broker.min_offsets([("T", queue_id) for queue_id in (3, 2, 1)]))
    assert [offset if isinstance(offset, int) else type(offset) for offset in offsets] == [30, BrokerRefused, 10]


def test_min_offsets_of_a_broker_that_is_gone_are_failures() -> None:
    async def main() -> list[Any]:
        async with ConnectionPool() as pool:
            return await BrokerAdmin(pool, "127.0.0.1:1").min_offsets([("T", 0), ("T", 1)])

    assert [type(offset) for offset in asyncio.run(main())] == [Unreachable, Unreachable]


def test_a_large_body_is_read_like_a_small_one() -> None:
    keys = ",".join(f'"topic-{number}@group-{number}":{{0:{number}}}' for number in range(40_000))
    body = f'{{"offsetTable":{{{keys}}}}}'.encode()
    assert len(body) > 1 << 20
    table = ask(answering(lambda request: reply(request, body=body)), lambda broker: broker.consumer_offsets())
    assert table["consumer_offset"].to_pylist() == list(range(40_000))


def test_an_error_in_a_large_body_names_its_broker_too() -> None:
    async def use(broker: BrokerAdmin) -> None:
        with pytest.raises(RemoteProtocolError, match="a body that is not JSON") as caught:
            await broker.consumer_offsets()
        assert caught.value.address == broker.address

    ask(answering(lambda request: reply(request, body=b"{" * (1 << 20))), use)
