"""What a client says of itself, in our words."""

from datetime import UTC, datetime

import pytest

from consumers.polling.members.client_round import client_reading
from consumers.rocketmq.bodies.client_bodies import ConsumeStatus, PopQueue, ProcessQueue, RunningInfo, Subscription

QUEUE = ProcessQueue(
    topic="Orders",
    broker="broker-a",
    queue_id=3,
    commit_offset=7,
    cached_min=7,
    cached_max=9,
    cached_count=3,
    cached_mib=2,
    locked=True,
    dropped=False,
    last_pull_ms=1_772_330_400_500,
    last_consume_ms=None,
    last_lock_ms=0,
)


def reading(**properties):
    return client_reading("g", "c1", RunningInfo(properties, [QUEUE], [], [], {}, None))


def test_a_queue_keeps_its_numbers_and_its_times():
    (queue,) = reading().queues
    assert (queue.commit_offset, queue.cached_min, queue.cached_max, queue.cached_count) == (7, 7, 9, 3)
    assert queue.last_pull_at == datetime(2026, 3, 1, 2, 0, 0, 500_000, UTC)


def test_a_time_that_was_not_said_is_null_and_not_1970():
    (queue,) = reading().queues
    assert (queue.last_consume_at, queue.last_lock_at) == (None, None)


@pytest.mark.parametrize(
    ("property_", "value", "field", "expected"),
    [
        (
            "allocateMessageQueueStrategy",
            "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely@738",
            "strategy",
            "AllocateMessageQueueAveragely",
        ),
        ("PROP_CONSUMEORDERLY", "true", "orderly", True),
        ("PROP_CONSUMEORDERLY", "false", "orderly", False),
        ("PROP_CONSUMEORDERLY", "maybe", "orderly", None),
        ("PROP_CONSUMER_START_TIMESTAMP", "1772330400500", "started_at", datetime(2026, 3, 1, 2, 0, 0, 500_000, UTC)),
        ("PROP_CONSUMER_START_TIMESTAMP", "soon", "started_at", None),
    ],
)
def test_a_property_is_read(property_, value, field, expected):
    assert getattr(reading(**{property_: value}), field) == expected


def test_properties_that_were_not_said_are_null():
    said = reading()
    assert (said.strategy, said.orderly, said.started_at) == (None, None, None)


def test_popped_queues_are_told_with_what_was_not_acknowledged():
    pops = [PopQueue("Orders", "broker-a", -1, 9, False, 1_772_330_400_500), PopQueue("Orders", "b", 0, 1, True, None)]
    said = client_reading("g", "c1", RunningInfo({}, [], pops, [], {}, None))
    at = "2026-03-01T02:00:00.500000+00:00"
    (popped,) = said.pop_queues
    assert popped == {
        "topic": "Orders",
        "broker": "broker-a",
        "queue_id": -1,
        "wait_ack_count": 9,
        "last_pop_at": at,
    }


def test_a_subscription_is_a_line_a_topic_without_the_groups_own_retry_topics():
    said = [
        Subscription("Orders", "a || b", "TAG", ("a", "b"), 2000),
        Subscription("Bills", "*", None, (), 1000),
        Subscription("%RETRY%g", "*", "TAG", (), 9000),
        Subscription("%RETRY%g_Orders", "*", "TAG", (), 9000),
    ]
    reading = client_reading("g", "c1", RunningInfo({}, [], [], said, {}, None))
    assert reading.subscription == "Bills TAG *\nOrders TAG a || b"
    assert reading.sub_version == datetime(1970, 1, 1, 0, 0, 2, tzinfo=UTC)


def test_what_it_says_of_its_failures_stands_by_topic():
    status = {"Orders": ConsumeStatus(10.0, 5.0, 2.5, 1.0, 0.2, 3)}
    said = client_reading("g", "c1", RunningInfo({}, [], [], [], status, None)).consume_status
    assert said == {
        "Orders": {
            "consume_ok_tps": 1.0,
            "consume_failed_tps": 0.2,
            "consume_failed_messages": 3,
            "consume_rt": 2.5,
            "pull_rt": 10.0,
            "pull_tps": 5.0,
        }
    }
