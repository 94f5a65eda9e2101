"""Which queues can be read and written: also those that take messages and give none."""

from dataclasses import replace

import pytest

from consumers.lake.store import Lake
from consumers.models import Cluster, Queue
from consumers.polling.record.recorder import Recorder
from consumers.rocketmq.bodies.config_bodies import TopicConfig
from tests.readings import T0, at, broker, reading, row

pytestmark = pytest.mark.django_db

ORDERS = row("billing", "Orders", 0, 7, 10)


@pytest.fixture
def record(tmp_path):
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    recorder, lake = Recorder.of(cluster), Lake.at(str(tmp_path))

    def record(seconds, *topics, rows=(ORDERS,), name="broker-a"):
        configured = tuple(TopicConfig(name, *numbers, order=False, attributes=None) for name, *numbers in topics)
        recorder.record(reading(seconds, replace(broker(name, *rows), topics=configured or None)), None, lake)

    return record


def queues():
    return list(Queue.objects.order_by("topic__name", "queue_id").values_list("queue_id", "readable", "writable"))


def test_a_queue_that_only_takes_messages_is_known_though_nobody_has_an_offset_on_it(record):
    record(0, ("Orders", 1, 3, 6), ("Others", 1, 3, 6))
    assert queues() == [(0, True, True), (1, False, True), (2, False, True)]


def test_a_topic_that_may_not_be_written_takes_none(record):
    record(0, ("Orders", 1, 3, 4))
    assert queues() == [(0, True, False)]


def test_a_queue_that_the_broker_has_no_more_neither_takes_nor_gives(record):
    record(0, ("Orders", 1, 3, 6))
    record(60, ("Orders", 1, 1, 6))
    assert queues() == [(0, True, True), (1, False, False), (2, False, False)]


def test_a_reading_without_the_configuration_leaves_it(record):
    record(0, ("Orders", 1, 2, 6))
    record(15)
    assert queues() == [(0, True, True), (1, False, True)]


def first_seen():
    rows = Queue.objects.order_by("topic__name", "broker", "queue_id")
    return list(rows.values_list("topic__name", "broker", "queue_id", "first_seen_at"))


def orders(*queue_ids):
    return [row("billing", "Orders", queue_id, 7, 10) for queue_id in queue_ids]


def test_queues_of_the_first_reading_may_have_been_there_for_long(record):
    record(0, ("Orders", 2, 2, 6), rows=orders(0, 1))
    assert first_seen() == [("Orders", "broker-a", 0, None), ("Orders", "broker-a", 1, None)]


def test_a_queue_that_a_topic_got_is_seen_first_by_the_reading_that_has_it(record):
    record(0, ("Orders", 1, 1, 6))
    record(15, rows=orders(0, 1))
    record(30, ("Orders", 3, 3, 6), rows=orders(0, 1, 2))
    assert [first for *_, first in first_seen()] == [None, at(15), at(30)]


def test_a_queue_that_was_there_before_anybody_asked_for_it_was_not_noted(record):
    record(0, ("Orders", 2, 2, 6), rows=orders(0))
    record(15, rows=orders(0, 1))
    assert [first for *_, first in first_seen()] == [None, None]


def test_queues_of_a_topic_that_is_seen_first_are_not_noted(record):
    record(0, ("Orders", 1, 1, 6))
    record(60, ("Orders", 1, 1, 6), ("Paid", 1, 1, 6), rows=[*orders(0), row("billing", "Paid", 0, 0, 0)])
    assert first_seen()[-1] == ("Paid", "broker-a", 0, None)


def test_queues_of_a_broker_that_is_read_first_are_not_noted(record):
    record(0, ("Orders", 1, 1, 6))
    record(15, ("Orders", 1, 1, 6), name="broker-b")
    assert first_seen()[-1] == ("Orders", "broker-b", 0, None)


def test_a_topic_that_came_to_a_broker_is_noted(record):
    record(0, ("Others", 1, 1, 6), name="broker-b", rows=())
    record(15, ("Orders", 1, 1, 6))
    record(30, name="broker-b")
    assert first_seen()[-1] == ("Orders", "broker-b", 0, at(30))


def readable_since():
    return list(Queue.objects.order_by("queue_id").values_list("readable", "readable_since"))


def test_a_queue_is_readable_since_the_reading_that_saw_it_become_so(record):
    record(0, ("Orders", 1, 2, 6))
    assert readable_since() == [(True, None), (False, None)]
    record(60, ("Orders", 2, 2, 6))
    assert readable_since() == [(True, None), (True, at(60))]
    record(120, ("Orders", 1, 2, 6))
    assert readable_since() == [(True, None), (False, at(120))]


def test_a_queue_that_only_stops_taking_messages_is_readable_as_long_as_before(record):
    record(0, ("Orders", 1, 1, 6))
    record(60, ("Orders", 1, 1, 4))
    assert readable_since() == [(True, None)]
