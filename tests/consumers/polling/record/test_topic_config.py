"""Which queues can be read and written: also those that take messages and give none."""

from dataclasses import replace

import pytest

from consumers.lake.store import Lake
from consumers.models import Cluster, Queue
from consumers.polling.record.recorder import Recorder
from consumers.rocketmq.broker_values import TopicConfig
from tests.readings import T0, broker, reading, row

pytestmark = pytest.mark.django_db

ORDERS = row("billing", "Orders", 0, 7, 10)


@pytest.fixture
def record(tmp_path):
    cluster = Cluster.objects.create(name="prod", namesrv="127.0.0.1:9876", created_at=T0)
    recorder, lake = Recorder.of(cluster), Lake.at(str(tmp_path))

    def record(seconds, *topics):
        configured = tuple(TopicConfig(name, *numbers, order=False, attributes=None) for name, *numbers in topics)
        part = replace(broker("broker-a", ORDERS), topics=configured or None)
        recorder.record(reading(seconds, part), None, lake)

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
