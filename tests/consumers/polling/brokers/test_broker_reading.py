"""One broker's part of a reading, from a peer that does as a broker does, or does not."""

import asyncio
import json

import pytest

from consumers.polling.brokers.broker_turn import read_broker
from consumers.polling.brokers.dispatch_backlog import DispatchBacklog
from consumers.polling.memory import BrokerMemory, Cadence, ClusterMemory
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.codes import RequestCode
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.wire.frames import encode
from consumers.vocabulary.states import UnknownReason
from tests.consumers.rocketmq.fake_server import commands, reply, served
from tests.readings import T0

VERSION_5_4_0 = 493
CADENCE = Cadence(config_seconds=60, min_offset_seconds=60)
DATA_VERSION = {"counter": 1, "stateVersion": 0, "timestamp": 1}


def topics(*names):
    queues = {"readQueueNums": 1, "writeQueueNums": 1, "perm": 6, "order": False, "attributes": {}}
    table = {name: {"topicName": name, **queues} for name in names}
    return json.dumps({"dataVersion": DATA_VERSION, "topicConfigTable": table}).encode()


HEALTHY = {
    RequestCode.GET_ALL_TOPIC_CONFIG: topics("Orders"),
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: json.dumps(
        {"dataVersion": DATA_VERSION, "subscriptionGroupTable": {}}
    ).encode(),
    RequestCode.GET_ALL_CONSUMER_OFFSET: b'{"dataVersion":{},"offsetTable":{"Orders@billing":{0:7}}}',
    RequestCode.GET_CONSUME_STATS: (
        b'{"consumeTps":0.0,"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"Orders"}:'
        b'{"brokerOffset":10,"consumerOffset":0,"lastTimestamp":0,"pullOffset":0}}}'
    ),
}


NOTHING_WAITS = {
    RequestCode.GET_ALL_DELAY_OFFSET: b'{"offsetTable":{}}',
    RequestCode.GET_BROKER_RUNTIME_INFO: b'{"table":{"dispatchBehindBytes":"0"}}',
}


def read(answers, readings=1, deadline_seconds=20.0, clusters=None):
    """The last of `readings` readings, and the codes that were asked. A code without an answer is met with silence."""
    answers, asked = NOTHING_WAITS | answers, []

    async def behave(reader, writer):
        async for command in commands(reader):
            asked.append(RequestCode(command.code))
            if command.code == RequestCode.GET_MIN_OFFSET:
                writer.write(encode(reply(command, ext_fields={"offset": "2"}, version=VERSION_5_4_0)))
            elif (body := answers.get(command.code)) is not None:
                body = body.pop(0) if isinstance(body, list) and len(body) > 1 else body
                body = body[0] if isinstance(body, list) else body
                writer.write(encode(reply(command, body=body, version=VERSION_5_4_0)))

    async def run():
        async with served(behave) as address, ConnectionPool() as pool:
            memory, known = ClusterMemory(clusters=clusters or {}), BrokerMemory(address)
            for _ in range(readings):
                admin = BrokerAdmin(pool, address)
                part = await read_broker(admin, "broker-a", memory, known, CADENCE, T0, deadline_seconds)
            return part

    return asyncio.run(run()), asked


def test_a_healthy_broker_gives_its_rows():
    part, _ = read(HEALTHY)
    assert part.error is None
    (row,) = part.rows.to_pylist()
    assert (row["group"], row["consumer_offset"], row["broker_offset"], row["min_offset"]) == ("billing", 7, 10, 2)


def test_consumer_offsets_are_asked_before_broker_offsets():
    _, asked = read(HEALTHY)
    assert asked.index(RequestCode.GET_ALL_CONSUMER_OFFSET) < asked.index(RequestCode.GET_CONSUME_STATS)


def test_a_second_reading_costs_four_calls():
    _, asked = read(HEALTHY, readings=2)
    assert set(asked[-4:-2]) == {RequestCode.GET_ALL_CONSUMER_OFFSET, RequestCode.GET_ALL_DELAY_OFFSET}
    assert set(asked[-2:]) == {RequestCode.GET_CONSUME_STATS, RequestCode.GET_BROKER_RUNTIME_INFO}
    assert len(asked) == 2 + 4 + 1 + 4


def runtime(body):
    return HEALTHY | {RequestCode.GET_BROKER_RUNTIME_INFO: body}


@pytest.mark.parametrize(("said", "behind"), [("0", 0), ("67108864", 67108864), ("-12", 0)])
def test_a_broker_says_how_far_its_dispatch_is_behind(said, behind):
    part, _ = read(runtime(b'{"table":{"dispatchBehindBytes":"%s"}}' % said.encode()))
    assert part.dispatch == DispatchBacklog(behind)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b'{"table":{}}', "no_dispatch_backlog"),
        (b'{"table":{"dispatchBehindBytes":"far"}}', "is not a whole number"),
        (b"{}", "is missing"),
        (None, "no answer to GET_BROKER_RUNTIME_INFO"),
    ],
)
def test_a_broker_that_does_not_say_how_far_it_is_behind_is_read_all_the_same(body, why):
    part, _ = read(runtime(body), deadline_seconds=2.0)
    assert (part.error, part.rows.num_rows, part.dispatch.behind_bytes) == (None, 1, None)
    assert why in part.dispatch.error


def test_a_broker_that_did_not_say_it_is_not_asked_again_within_a_minute():
    part, asked = read(runtime(b'{"table":{}}'), readings=3)
    assert asked.count(RequestCode.GET_BROKER_RUNTIME_INFO) == 1
    assert "no_dispatch_backlog" in part.dispatch.error


def of_cluster(name, *more):
    config = {RequestCode.GET_BROKER_CONFIG: f"brokerName=broker-a\nbrokerClusterName={name}\n".encode()}
    return HEALTHY | config | {RequestCode.GET_ALL_TOPIC_CONFIG: topics("Orders", *more)}


def test_a_broker_of_another_cluster_at_the_address_is_not_read():
    part, asked = read(of_cluster("another", "another"), readings=2, clusters={"broker-a": "shop"})
    assert "a broker of the cluster another answers" in part.error
    assert part.rows is None
    assert asked.count(RequestCode.GET_BROKER_CONFIG) == 2


def test_a_broker_with_the_topic_of_its_cluster_is_not_asked_for_more():
    part, asked = read(of_cluster("shop", "shop"), clusters={"broker-a": "shop"})
    assert part.error is None
    assert RequestCode.GET_BROKER_CONFIG not in asked


@pytest.mark.parametrize("config", [b"", b"brokerClusterName=shop\n"])
def test_a_broker_without_that_topic_is_read_unless_it_says_that_it_is_of_another_cluster(config):
    answers = of_cluster("shop") | {RequestCode.GET_BROKER_CONFIG: config}
    assert read(answers, clusters={"broker-a": "shop"})[0].error is None


def test_a_broker_of_another_name_at_the_address_is_not_read():
    stats_of_another = HEALTHY[RequestCode.GET_CONSUME_STATS].replace(b"broker-a", b"broker-b")
    part, asked = read(HEALTHY | {RequestCode.GET_CONSUME_STATS: stats_of_another}, readings=2)
    assert "broker-b answers" in part.error
    assert (part.rows, part.dead_letters) == (None, None)
    # Its topics and groups are not those of the broker that may have the address next.
    assert asked.count(RequestCode.GET_ALL_TOPIC_CONFIG) == 2


def stats(*ends):
    rows = (
        f'{{"brokerName":"broker-a","queueId":{queue_id},"topic":"{topic}"}}:{{"brokerOffset":{end},"consumerOffset":0}}'
        for topic, queue_id, end in ends
    )
    return f'{{"offsetTable":{{{",".join(rows)}}}}}'.encode()


def with_delays(table=b'{"offsetTable":{3:5}}'):
    return HEALTHY | {
        RequestCode.GET_ALL_TOPIC_CONFIG: topics("Orders", "SCHEDULE_TOPIC_XXXX"),
        RequestCode.GET_ALL_DELAY_OFFSET: table,
        RequestCode.GET_CONSUME_STATS: stats(
            ("Orders", 0, 10),
            ("SCHEDULE_TOPIC_XXXX", 2, 9),
            ("SCHEDULE_TOPIC_XXXX", 3, 4),
            ("SCHEDULE_TOPIC_XXXX", 4, 0),
        ),
    }


def test_delay_levels_are_read_beside_the_offsets_and_are_no_queues_of_a_group():
    part, asked = read(with_delays())
    assert (part.delays.delivered, part.delays.ends) == ({3: 5}, {3: 9, 4: 4, 5: 0})
    assert part.delays.backlogs == {3: 4, 4: 4}
    assert part.rows["topic"].to_pylist() == ["Orders"]
    assert asked.count(RequestCode.GET_MIN_OFFSET) == 1
    assert asked.index(RequestCode.GET_ALL_DELAY_OFFSET) < asked.index(RequestCode.GET_CONSUME_STATS)


@pytest.mark.parametrize("table", [b"", b'{"offsetTable":5}', None], ids=["no body", "no sense", "silence"])
def test_delay_levels_that_cannot_be_read_spoil_nothing_else(table):
    part, _ = read(with_delays(table), deadline_seconds=1.0)
    assert part.error is None
    assert part.rows["broker_offset"].to_pylist() == [10]
    assert part.delays.error
    assert part.delays.delivered == {}


def test_a_topic_that_the_configuration_lacks_makes_it_read_again_at_once():
    grown = {**HEALTHY, RequestCode.GET_ALL_TOPIC_CONFIG: [topics("Other"), topics("Other", "Orders")]}
    part, asked = read(grown, readings=2)
    assert asked.count(RequestCode.GET_ALL_TOPIC_CONFIG) == 2
    assert part.rows["unknown_reason"].to_pylist() == [None]


def groups(*names):
    table = {name: {"groupName": name, "consumeEnable": True} for name in names}
    return json.dumps({"dataVersion": DATA_VERSION, "subscriptionGroupTable": table}).encode()


def offsets(table):
    return f'{{"dataVersion":{{}},"offsetTable":{table}}}'.encode()


def lost(table='{"Orders@billing":{0:7}}', **more):
    """The offsets of the first reading are gone in the second; `more` by the name of a code."""
    answers = {RequestCode[name]: list(bodies) for name, bodies in more.items()}
    return (
        HEALTHY
        | {
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: groups("billing"),
            RequestCode.GET_ALL_CONSUMER_OFFSET: [offsets(table), offsets("{}")],
        }
        | answers
    )


LISTS = (RequestCode.GET_ALL_TOPIC_CONFIG, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)


def test_a_queue_whose_offset_is_gone_keeps_its_row_with_the_numbers_of_the_broker():
    part, _ = read(lost(), readings=2)
    (row,) = part.rows.to_pylist()
    assert (row["group"], row["topic"], row["consumer_offset"]) == ("billing", "Orders", None)
    assert (row["unknown_reason"], row["broker_offset"], row["min_offset"]) == (UnknownReason.NEVER_COMMITTED, 10, 2)


def test_an_offset_that_is_gone_makes_the_broker_list_its_topics_and_groups_once():
    part, asked = read(lost(), readings=2)
    assert [group.name for group in part.groups] == ["billing"]
    assert [asked.count(code) for code in LISTS] == [2, 2]
    _, asked = read(lost(), readings=4)
    assert [asked.count(code) for code in LISTS] == [2, 2]


@pytest.mark.parametrize(
    "gone",
    [
        {"GET_ALL_SUBSCRIPTIONGROUP_CONFIG": [groups("billing"), groups()]},
        {"GET_ALL_TOPIC_CONFIG": [topics("Orders"), topics()]},
    ],
    ids=["group", "topic"],
)
def test_what_was_deleted_has_no_row_and_the_lists_say_so(gone):
    part, _ = read(lost(**gone), readings=2)
    assert part.rows.num_rows == 0
    assert (part.topics, part.groups).count(()) == 1
    part, _ = read(lost(**gone), readings=3)
    assert part.rows.num_rows == 0


def test_an_offset_that_is_gone_is_looked_into_again_where_the_reading_failed():
    good = HEALTHY[RequestCode.GET_CONSUME_STATS]
    part, asked = read(lost(GET_CONSUME_STATS=[good, b"{", good]), readings=3)
    assert part.groups is not None
    assert [asked.count(code) for code in LISTS] == [3, 3]


def test_offsets_of_broadcasting_members_are_expected_of_nobody():
    table = '{"Orders@billing@broadcast":{0:7}}'
    assert read(lost(table))[0].broadcasting == {"billing"}
    assert read(lost(table), readings=2)[0].rows.num_rows == 0


GROWN = topics("Other", "Orders", "%DLQ%billing", "%RETRY%billing")


@pytest.mark.parametrize(
    ("configs", "appeared"),
    [
        ([topics("Other"), GROWN], ("%DLQ%billing", "%RETRY%billing")),
        ([topics("Other", "%DLQ%billing"), GROWN], ("%RETRY%billing",)),
        ([GROWN], ()),
    ],
    ids=["two are there of a sudden", "one of them was there", "nobody knows since when"],
)
def test_it_says_which_retry_and_dead_letter_topics_a_broker_had_not_when_it_was_last_asked(configs, appeared):
    part, _ = read({**HEALTHY, RequestCode.GET_ALL_TOPIC_CONFIG: list(configs)}, readings=len(configs))
    assert part.appeared == appeared


@pytest.mark.parametrize("silent", HEALTHY, ids=lambda code: code.name)
def test_a_call_that_is_not_answered_makes_the_whole_part_unknown(silent):
    answers = {code: body for code, body in HEALTHY.items() if code != silent}
    part, _ = read(answers, deadline_seconds=0.2)
    assert (part.rows, part.dead_letters) == (None, None)
    assert "127.0.0.1" in part.error


@pytest.mark.parametrize("broken", HEALTHY, ids=lambda code: code.name)
@pytest.mark.parametrize("body", [b"", b"{", b'{"offsetTable":5}', b"\xff\xfe", b"[]"])
def test_a_body_that_makes_no_sense_is_an_error_and_never_a_number(broken, body):
    part, _ = read({**HEALTHY, broken: body})
    assert part.rows is None
    assert part.error
