"""A whole reading of real brokers of older releases, against what RocketMQ's own classes set."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Assignment, Broker, Cluster, ConsumerGroup, GroupTotal, QueueSnapshot
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, Poll, PollSettings
from consumers.rocketmq.wire.codes import BULK_OFFSETS_VERSION, mq_version_name
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

TOPICS = ("OldOrders", "OldPayments", "OldStock")


@pytest.fixture(scope="module")
def old_admin(older_rocketmq: tuple[str, RocketMQ], rocketmq_jars: Path) -> Iterator[JavaAdmin]:
    """Queue n of each topic holds 10 + n messages, of which `old-billing` has consumed 4 * n."""
    _, cluster = older_rocketmq
    with JavaAdmin(cluster, rocketmq_jars) as admin:
        admin.create_group("old-billing")
        for topic in TOPICS:
            admin.create_topic(topic, 2)
            for queue_id in range(2):
                admin.send(topic, "broker-a", queue_id, 10 + queue_id)
                admin.set_offset("old-billing", topic, "broker-a", queue_id, 4 * queue_id)
        yield admin


@pytest.fixture
def poller(older_rocketmq: tuple[str, RocketMQ], old_admin: JavaAdmin, tmp_path: Path) -> Iterator[ClusterPoller]:
    cluster = Cluster.objects.create(name="old", namesrv=older_rocketmq[1].namesrv, created_at=timezone.now())
    poller = ClusterPoller(
        cluster, PollSettings(Cadence(3600, 3600), Budget(1000, 100), 5.0, Lake.at(str(tmp_path)), 0)
    )
    yield poller
    poller.close()


def poll(poller: ClusterPoller) -> Poll:
    return poller.poll(timezone.now())


def test_every_lag_is_the_truth(poller: ClusterPoller) -> None:
    assert [part.error for part in poll(poller).offsets.brokers] == [None]
    rows = QueueSnapshot.objects.filter(group__name="old-billing", queue__topic__name__in=TOPICS)
    read = {
        (row.queue.topic.name, row.queue.queue_id): (row.consumer_offset, row.broker_offset, row.min_offset)
        for row in rows.select_related("queue__topic")
    }
    assert read == {(topic, n): (4 * n, 10 + n, 0) for topic in TOPICS for n in range(2)}
    assert GroupTotal.objects.get(group__name="old-billing").lag_messages == 3 * (10 + 11 - 4)


def test_its_version_decides_whether_topics_are_asked_for_one_by_one(
    poller: ClusterPoller, older_rocketmq: tuple[str, RocketMQ]
) -> None:
    poll(poller)
    version = Broker.objects.get(broker_id=0).version
    assert version == f"V{older_rocketmq[0].replace('.', '_')}"
    knows_bulk = version in {mq_version_name(ordinal) for ordinal in range(BULK_OFFSETS_VERSION, 612)}
    # A list of brokers, consumer and delay offsets, what is not dispatched, then the topics that any group has offsets
    # in and the schedule's.
    topics = len(set(QueueSnapshot.objects.values_list("queue__topic__name", flat=True)))
    stats = 1 if knows_bulk else topics + 1
    assert poll(poller).row.calls == 1 + 2 + stats + 1


def test_members_and_the_queues_they_hold_are_read(poller: ClusterPoller, old_admin: JavaAdmin) -> None:
    old_admin.start_consumer("old-members", "OldOrders", "old-1")
    try:
        deadline = time.monotonic() + 360
        while Assignment.objects.filter(group__name="old-members", queue__topic__name="OldOrders").count() != 2:
            assert time.monotonic() < deadline
            poll(poller)
    finally:
        old_admin.stop_consumer("old-1")
    group = ConsumerGroup.objects.get(name="old-members")
    assert (group.online, group.members, group.membership_error) == (True, 1, None)
