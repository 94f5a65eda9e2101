"""A real group that pops: its offset is at the end while its messages are still worked on."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.utils import timezone

from consumers.groups.detail import queue_list
from consumers.groups.listing import group_list
from consumers.groups.rows import GroupFilters
from consumers.lake.store import Lake
from consumers.models import Client, Cluster
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from dashboard.demo.cluster import RocketMQ
from tests.popping import popping_cluster

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

TOPIC, GROUP = "PoppedOrders", "popped-billing"


@pytest.fixture
def popping(rocketmq_jars: Path, tmp_path: Path) -> Iterator[RocketMQ]:
    """A member holds six messages that it has popped, and never ends."""
    with popping_cluster(tmp_path / "rocketmq", rocketmq_jars, GROUP, TOPIC) as (cluster, child):
        child.send(TOPIC, "broker-a", 0, 6)
        child.start_consumer(GROUP, TOPIC, "popped-1", consume="held", pops=True)
        yield cluster


def test_a_lag_of_0_does_not_hide_what_was_not_acknowledged(popping: RocketMQ, tmp_path: Path) -> None:
    registered = Cluster.objects.create(name="popped", namesrv=popping.namesrv, created_at=timezone.now())
    settings = PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, Lake.at(str(tmp_path / "lake")), 0)
    poller = ClusterPoller(registered, settings)
    try:
        deadline = time.monotonic() + 240
        while not has_popped():
            assert time.monotonic() < deadline, shown()
            time.sleep(0.5)
            poller.poll(datetime.now(UTC))
    finally:
        poller.close()
    [row] = queue_list("popped", GROUP, topic=TOPIC, now=datetime.now(UTC))
    assert (row.consumer_offset, row.lag_messages, row.unacked_messages) == (6, 0, None)
    assert row.unknown["unacked_messages"] == f"6 of {TOPIC} on broker-a, in any of its queues"
    [group] = group_list(GroupFilters(search=GROUP), now=datetime.now(UTC)).rows
    assert "pop" in group.flags


def shown() -> list[object]:
    queues = queue_list("popped", GROUP, topic=TOPIC, now=datetime.now(UTC))
    return [list(Client.objects.values_list("client_id", "pop_queues", "running_info_error")), queues]


def has_popped() -> bool:
    client = Client.objects.filter(group__name=GROUP, gone_by=None).first()
    counts = [one["wait_ack_count"] for one in (client.pop_queues if client else None) or ()]
    queues = queue_list("popped", GROUP, topic=TOPIC, now=datetime.now(UTC))
    return sum(counts) == 6 and [queue.lag_messages for queue in queues] == [0]
