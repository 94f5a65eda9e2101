"""Readings of a real cluster against what RocketMQ's own classes set and say."""

import re
import time

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Assignment, Broker, Cluster, ConsumerGroup, GroupTotal, QueueSnapshot
from consumers.polling.brokers.dispatch_backlog import PAUSE
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

SETTINGS = {"cadence": Cadence(0, 0), "budget": Budget(1000, 100), "deadline_seconds": 5.0, "disk_floor_mib": 0}


@pytest.fixture
def poller(rocketmq_pair, tmp_path):
    cluster = Cluster.objects.create(name="pair", namesrv=rocketmq_pair.namesrv, created_at=timezone.now())
    poller = ClusterPoller(cluster, PollSettings(lake=Lake.at(str(tmp_path / "lake")), **SETTINGS))
    yield poller
    poller.close()


@pytest.fixture(scope="module")
def messages(java_admin_pair):
    """Queue n of each broker holds 10 + n messages."""
    java_admin_pair.create_topic("PollTruth", 3)
    java_admin_pair.create_topic("%RETRY%polltruth", 1)
    java_admin_pair.create_group("polltruth")
    for broker in ("broker-a", "broker-b"):
        for queue_id in range(3):
            java_admin_pair.send("PollTruth", broker, queue_id, 10 + queue_id)


@pytest.fixture
def known_offsets(messages, java_admin_pair):
    """`polltruth` has consumed 4 * n messages of queue n. A broker that was killed has lost that: it is set again."""

    def commit():
        for broker in ("broker-a", "broker-b"):
            for queue_id in range(3):
                java_admin_pair.set_offset("polltruth", "PollTruth", broker, queue_id, 4 * queue_id)

    commit()
    return commit


def test_every_lag_is_the_truth(poller, known_offsets):
    poller.poll(timezone.now())
    rows = QueueSnapshot.objects.filter(group__name="polltruth", queue__topic__name="PollTruth")
    read = {
        (row.queue.broker, row.queue.queue_id): (row.consumer_offset, row.broker_offset, row.min_offset)
        for row in rows.select_related("queue")
    }
    assert read == {(broker, n): (4 * n, 10 + n, 0) for broker in ("broker-a", "broker-b") for n in range(3)}


def test_the_group_total_equals_mqadmin(poller, known_offsets, rocketmq_pair):
    poller.poll(timezone.now())
    said = rocketmq_pair.mqadmin("consumerProgress", "-g", "polltruth")
    total = int(re.search(r"Consume Diff Total: (-?\d+)", said).group(1))
    assert GroupTotal.objects.get(group__name="polltruth").lag_messages == total == 2 * (10 + 11 + 12 - 12)


def test_a_reading_is_three_calls_a_broker_once_its_configuration_is_known(poller, known_offsets):
    poller.poll(timezone.now())
    poller.settings = PollSettings(lake=poller.settings.lake, **SETTINGS | {"cadence": Cadence(3600, 3600)})
    # A broker that had just started may have refused to tell of its dispatch, and is not asked again before a pause.
    poll = poller.poll(timezone.now() + PAUSE)
    assert poll.offsets.complete
    assert poll.row.calls == 1 + 2 * 4


def poll_until(poller, seen, seconds=360):
    deadline = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < deadline
        poller.poll(timezone.now())
        time.sleep(0.3)


def test_members_and_owners_are_those_of_real_consumers(poller, java_admin_pair):
    java_admin_pair.create_topic("PollOwned", 2)
    java_admin_pair.start_consumer("pollowned", "PollOwned", "pollowned-1")
    java_admin_pair.send("PollOwned", "broker-a", 0, 1)
    try:
        poll_until(poller, lambda: Assignment.objects.filter(queue__topic__name="PollOwned").exists())
        group = ConsumerGroup.objects.get(name="pollowned")
        assert (group.online, group.members, group.message_model) == (True, 1, "CLUSTERING")
        client = group.clients.get()
        assert client.client_id.endswith("@pollowned-1")
        assert client.strategy == "AllocateMessageQueueAveragely"
        held = set(group.assignments.filter(gone_by=None).values_list("queue__topic__name", "queue__broker"))
        assert ("PollOwned", "broker-a") in held
    finally:
        java_admin_pair.stop_consumer("pollowned-1")


def test_a_killed_broker_is_unknown_and_the_other_keeps_its_figures(poller, known_offsets, rocketmq_pair):
    poller.poll(timezone.now())
    good_at = Broker.objects.get(name="broker-b").last_read_at
    rocketmq_pair.kill_broker("broker-b")
    poll = poller.poll(timezone.now())
    assert [(b.name, b.read) for b in poll.offsets.brokers] == [("broker-a", True), ("broker-b", False)]
    total = GroupTotal.objects.get(group__name="polltruth")
    assert (total.lag_messages, total.lag_messages_at_least, total.unknown_queues) == (None, 21, 3)
    assert "broker-b" in total.unknown_reason
    assert Broker.objects.get(name="broker-b").last_read_at == good_at
    rocketmq_pair.start_broker("broker-b")
    known_offsets()
    assert [b.error for b in poller.poll(timezone.now()).offsets.brokers] == [None, None]
    assert GroupTotal.objects.get(group__name="polltruth").lag_messages == 42
