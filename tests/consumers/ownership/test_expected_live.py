"""Real clients on two brokers own exactly the queues that they are expected to."""

import time
from collections.abc import Iterator

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster, ConsumerGroup
from consumers.ownership.group_shares import expected_owners
from consumers.ownership.segments import holders_at
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

TOPIC = "shares_orders"
GROUPS = {
    "shares_averagely": "AllocateMessageQueueAveragely",
    "shares_circle": "AllocateMessageQueueAveragelyByCircle",
    "shares_ring": "AllocateMessageQueueConsistentHash",
}
DEADLINE_SECONDS = 360


@pytest.fixture
def poller(rocketmq_pair, java_admin_pair, tmp_path) -> Iterator[ClusterPoller]:
    """Three members in each group."""
    java_admin_pair.create_topic(TOPIC, 5)
    instances = [(group, f"{group}-{number}") for group in GROUPS for number in range(3)]
    for group, instance in instances:
        java_admin_pair.start_consumer(group, TOPIC, instance, strategy=GROUPS[group])
    cluster = Cluster.objects.create(name="shares", namesrv=rocketmq_pair.namesrv, created_at=timezone.now())
    settings = PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, Lake.at(str(tmp_path / "lake")), 0)
    poller = ClusterPoller(cluster, settings)
    yield poller
    poller.close()
    for _, instance in instances:
        java_admin_pair.stop_consumer(instance)


def test_the_expected_owners_are_those_that_hold_the_queues(poller):
    deadline = time.monotonic() + DEADLINE_SECONDS
    while True:
        poller.poll(timezone.now())
        groups = list(ConsumerGroup.objects.filter(name__in=GROUPS))
        expected = {group.name: expected_owners(group).owners for group in groups}
        # Ten queues of the topic, and the group's retry topic on each broker.
        if {name: len(owners) for name, owners in expected.items()} == dict.fromkeys(GROUPS, 12) and expected == {
            group.name: holders_at(group) for group in groups
        }:
            return
        why = {group.name: expected_owners(group).why for group in groups}
        assert time.monotonic() < deadline, (why, expected, {group.name: holders_at(group) for group in groups})
        time.sleep(1)
