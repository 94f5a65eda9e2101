"""Bodies of 202 and of 222."""

import pytest

from consumers.rocketmq.bodies.config_bodies import TopicQueueStats
from consumers.rocketmq.bodies.offsets import reset_offsets, topic_queue_stats
from consumers.rocketmq.wire.codes import RemoteProtocolError
from tests.consumers.rocketmq.golden import golden

QUEUE = b'{"brokerName":"b","queueId":1,"topic":"T"}'


def test_it_reads_the_stats_of_a_topic_of_a_real_broker() -> None:
    stats = sorted(topic_queue_stats(golden("topic_stats_202").body), key=lambda queue: queue.queue_id)
    assert stats[3] == TopicQueueStats("broker-a", 3, 0, 13, last_update_at_ms=1795257821156)
    assert len(stats) == 4


def test_an_empty_queue_has_no_newest_message() -> None:
    stats = topic_queue_stats(golden("topic_stats_empty_202").body)
    assert {(queue.max_offset, queue.last_update_at_ms) for queue in stats} == {(0, None)}


@pytest.mark.parametrize("missing", [b'"minOffset":0', b'"maxOffset":0'])
def test_it_names_what_is_missing_in_the_stats_of_a_topic(missing: bytes) -> None:
    with pytest.raises(RemoteProtocolError, match=r"GET_TOPIC_STATS_INFO \(202\).*Offset is missing"):
        topic_queue_stats(b'{"offsetTable":{%s:{%s}}}' % (QUEUE, missing))


@pytest.mark.parametrize("queue", [QUEUE, b'{"topic":"T","queueId":1,"brokerName":"b"}'], ids=["sorted", "otherwise"])
def test_it_reads_where_a_reset_went_whatever_the_order_of_the_keys(queue: bytes) -> None:
    assert reset_offsets(b'{"offsetTable":{%s:7,%s:0}}' % (queue, queue.replace(b"1", b"3")), "T") == {1: 7, 3: 0}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "the body ends early"),
        (b"{}", "field offsetTable is missing"),
        (b'{"offsetTable":{"T":3}}', "is not a queue"),
        (b'{"offsetTable":{%s:null}}' % QUEUE, "is missing"),
        (b'{"offsetTable":{%s:{"offset":3}}}' % QUEUE, "is not a whole number"),
        (b'{"offsetTable":{{"queueId":1,"topic":"T"}:3}}', "brokerName is missing"),
        (b'{"offsetTable":{%s:3}}' % QUEUE.replace(b'"T"', b'"U"'), "names the topic U, and not only T"),
        (b'{"offsetTable":{%s:3,%s:3}}' % (QUEUE, QUEUE.replace(b'"b"', b'"c"')), "names more than one broker"),
    ],
)
def test_it_names_what_is_wrong_in_the_answer_to_a_reset(body: bytes, why: str) -> None:
    with pytest.raises(RemoteProtocolError, match=why):
        reset_offsets(body, "T")
