"""Bodies of 21, 201, 26, 28, 45 and 402."""

import pytest

from consumers.rocketmq.bodies.config_bodies import (
    DataVersion,
    GroupConfig,
    RetryPolicy,
    TopicConfig,
    broker_config,
    delay_offsets,
    group_configs,
    message_request_modes,
    minute_statistic,
    offset_of_header,
    timer_counts,
    topic_configs,
)
from consumers.rocketmq.wire.codes import RemoteProtocolError
from tests.consumers.rocketmq.golden import golden

VERSION = b'"dataVersion":{"counter":2,"timestamp":5}'


def test_it_reads_the_topics_of_a_real_broker() -> None:
    configs = topic_configs(golden("topics_21").body)
    topics = {topic.name: topic for topic in configs.topics}
    assert configs.data_version == DataVersion(counter=6, timestamp=1795257821611, state_version=0)
    assert len(topics) == 20
    assert topics["orders"] == TopicConfig("orders", 4, 4, 6, order=False, attributes={})


def test_both_headers_bring_the_same_topics() -> None:
    names = {topic.name for topic in topic_configs(golden("binary_topics_21").body).topics}
    assert names < {topic.name for topic in topic_configs(golden("topics_21").body).topics} | {"TBW102"}


def test_it_reads_the_groups_of_a_real_broker() -> None:
    configs = group_configs(golden("groups_201").body)
    groups = {group.name: group for group in configs.groups}
    assert configs.data_version == DataVersion(counter=4, timestamp=1795257821608, state_version=0)
    assert groups["audit"] == GroupConfig(
        name="audit",
        consume_enable=True,
        broadcast_enable=True,
        retry_max_times=3,
        retry_queue_nums=1,
        orderly=True,
        retry_policy=RetryPolicy("CUSTOMIZED", delays_ms=None, initial_ms=None, max_ms=None, multiplier=None),
        consume_timeout_minutes=15,
        notify_members=True,
        attributes={},
    )


def test_what_an_old_broker_does_not_say_of_a_group_is_unknown() -> None:
    body = b'{%s,"subscriptionGroupTable":{"g":{"groupName":"g","consumeEnable":false}}}' % VERSION
    assert group_configs(body).groups == [GroupConfig("g", False, *[None] * 8)]


def test_what_an_old_broker_does_not_say_of_a_topic_is_unknown() -> None:
    body = b'{%s,"topicConfigTable":{"T":{"topicName":"T","perm":2,"readQueueNums":0,"writeQueueNums":1}}}' % VERSION
    assert topic_configs(body).topics == [TopicConfig("T", 0, 1, 2, order=None, attributes=None)]


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        (
            b'{"type":"EXPONENTIAL","exponentialRetryPolicy":{"initial":5000,"max":7200000,"multiplier":2}}',
            RetryPolicy("EXPONENTIAL", delays_ms=None, initial_ms=5000, max_ms=7200000, multiplier=2),
        ),
        (
            b'{"type":"CUSTOMIZED","customizedRetryPolicy":{"next":[1000,5000]}}',
            RetryPolicy("CUSTOMIZED", delays_ms=(1000, 5000), initial_ms=None, max_ms=None, multiplier=None),
        ),
    ],
)
def test_it_reads_retry_policies(policy: bytes, expected: RetryPolicy) -> None:
    group = b'{"groupName":"g","consumeEnable":true,"groupRetryPolicy":%s}' % policy
    body = b'{%s,"subscriptionGroupTable":{"g":%s}}' % (VERSION, group)
    assert group_configs(body).groups[0].retry_policy == expected


@pytest.mark.parametrize(
    ("topic", "field"),
    [
        (b"null", r"topicConfigTable\.T is missing"),
        (b'{"perm":6,"readQueueNums":4,"writeQueueNums":4}', r"topicConfigTable\.T\.topicName is missing"),
        (b'{"topicName":"T","perm":6,"writeQueueNums":4}', r"topicConfigTable\.T\.readQueueNums is missing"),
        (b'{"topicName":"T","perm":"6","readQueueNums":4,"writeQueueNums":4}', r"perm is not a whole number"),
        (b'{"topicName":"T","perm":6,"readQueueNums":4,"writeQueueNums":true}', r"writeQueueNums is not a whole"),
        (b'{"topicName":"T","perm":6,"readQueueNums":4294967296,"writeQueueNums":4}', r"readQueueNums is not a whole"),
    ],
)
def test_it_names_the_field_that_is_wrong(topic: bytes, field: str) -> None:
    with pytest.raises(RemoteProtocolError, match=rf"in the answer to GET_ALL_TOPIC_CONFIG \(21\) field .*{field}"):
        topic_configs(b'{%s,"topicConfigTable":{"T":%s}}' % (VERSION, topic))


def test_it_reads_settings_line_by_line() -> None:
    body = "brokerName=broker-a\nmessageDelayLevel=1s 5s\nempty=\ntwo=a=b\nname=Größe\n".encode()
    assert broker_config(body) == {
        "brokerName": "broker-a",
        "messageDelayLevel": "1s 5s",
        "empty": "",
        "two": "a=b",
        "name": "Größe",
    }


@pytest.mark.parametrize("body", [b"brokerName\n", b"brokerName=\xff\n"])
def test_it_refuses_settings_that_are_none(body: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match=r"GET_BROKER_CONFIG \(26\)"):
        broker_config(body)


def test_it_reads_the_delay_offsets_of_a_real_broker() -> None:
    assert delay_offsets(golden("delay_offsets_45").body) == {3: 46, 4: 0}


@pytest.mark.parametrize("table", [b'{"x":1}', b'{3:"1"}', b"{3:null}", b'{{"a":1}:1}', b"[]"])
def test_it_refuses_delay_offsets(table: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match=r"GET_ALL_DELAY_OFFSET \(45\) field offsetTable"):
        delay_offsets(b'{"offsetTable":%s}' % table)


def test_it_reads_how_many_messages_of_each_topic_wait_in_the_timer_wheel() -> None:
    body = b'{"dataVersion":{"counter":3},"timingCount":{"%RETRY%g+T":{"count":2,"timeStamp":1},"T":{"count":-1}}}'
    assert timer_counts(body) == {"%RETRY%g+T": 2, "T": -1}


@pytest.mark.parametrize("table", [b"[]", b"null", b'{"T":2}', b'{"T":{"count":"2"}}', b'{"T":{}}', b'{1:{"count":2}}'])
def test_it_refuses_counts_of_a_timer_wheel(table: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match=r"GET_TIMER_METRICS \(61\) (field|the body)"):
        timer_counts(b'{"timingCount":%s}' % table)


@pytest.mark.parametrize("minute", [b"null", b"3", b"{}", b'{"sum":1}', b'{"sum":"1","tps":1.5}', b'{"tps":1.5}'])
def test_it_refuses_what_a_broker_counted(minute: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match=r"VIEW_BROKER_STATS_DATA \(315\) field statsMinute"):
        minute_statistic(b'{"statsMinute":%s}' % minute)


@pytest.mark.parametrize("name", ["max_offset_30", "binary_max_offset_30"])
def test_it_reads_an_offset_of_the_header(name: str) -> None:
    answer = golden(name)
    assert offset_of_header(answer.ext_fields, 30) == int(answer.ext_fields["offset"])


@pytest.mark.parametrize("ext_fields", [{}, {"offset": ""}, {"offset": "x"}, {"offset": "1.5"}, {"offset": "9" * 30}])
def test_it_refuses_an_offset_of_the_header(ext_fields: dict[str, str]) -> None:
    with pytest.raises(RemoteProtocolError, match=r"GET_MAX_OFFSET \(30\) field extFields\.offset"):
        offset_of_header(ext_fields, 30)


def test_it_reads_how_groups_are_given_the_messages_of_topics() -> None:
    pop = b'{"consumerGroup":"billing","mode":"POP","popShareQueueNum":0,"topic":"Orders"}'
    pull = b'{"consumerGroup":"audit","mode":"PULL","popShareQueueNum":-1,"topic":"Orders"}'
    body = b'{"messageRequestModeMap":{"Orders":{"billing":%s,"audit":%s},"Refunds":{}}}' % (pop, pull)
    assert message_request_modes(body) == {"Orders": {"billing": "POP", "audit": "PULL"}, "Refunds": {}}


@pytest.mark.parametrize("body", [b"{}", b'{"messageRequestModeMap":{"T":{"g":{}}}}', b'{"messageRequestModeMap":[]}'])
def test_a_map_of_modes_that_is_none_is_refused(body: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match="GET_ALL_MESSAGE_REQUEST_MODE"):
        message_request_modes(body)


def test_it_refuses_settings_with_a_nul() -> None:
    with pytest.raises(RemoteProtocolError, match="has a NUL"):
        broker_config(b"brokerName=a\0b\n")
