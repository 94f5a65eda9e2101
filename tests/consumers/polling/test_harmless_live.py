"""What a whole reading leaves behind on a real broker: nothing. RocketMQ's own client tells, before and after."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from django.utils import timezone

from consumers.lake.store import Lake
from consumers.models import Cluster, QueueSample
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.rocketmq.wire.codes import RequestCode
from dashboard.demo.cluster import RocketMQ
from tests.broker_state import counters, state, wait_until_delivered
from tests.plugins.java_admin import JavaAdmin

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def member(java_admin: JavaAdmin) -> Iterator[None]:
    """A group that lags, and two with a member that has nothing left to do and has committed that; one of the members
    leaves the sharing out of queues to the broker."""
    java_admin.create_topic("Harmless", 2)
    java_admin.create_group("harmless-lagging")
    java_admin.send("Harmless", "broker-a", 0, 5)
    java_admin.set_offset("harmless-lagging", "Harmless", "broker-a", 0, 2)
    java_admin.start_consumer("harmless", "Harmless", "harmless-1")
    java_admin.start_consumer("harmless-given", "Harmless", "harmless-2", pops=True)
    try:
        for group in ("harmless", "harmless-given"):
            wait(partial(has_committed, java_admin, f'"Harmless@{group}":{{0:5,1:0}}'), 360)
        yield
    finally:
        java_admin.stop_consumer("harmless-1")
        java_admin.stop_consumer("harmless-2")


def has_committed(admin: JavaAdmin, offsets: str) -> bool:
    return offsets in admin.ask("broker-a", RequestCode.GET_ALL_CONSUMER_OFFSET)


def wait(seen: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.5)


def test_a_whole_reading_changes_nothing_on_the_broker(
    rocketmq: RocketMQ, java_admin: JavaAdmin, member: None, tmp_path: Path
) -> None:
    cluster = Cluster.objects.create(name="one", namesrv=rocketmq.namesrv, created_at=timezone.now())
    settings = PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, Lake.at(str(tmp_path)), 0)
    poller = ClusterPoller(cluster, settings)
    try:
        wait_until_delivered(java_admin)
        before, (stored, messages_read) = state(java_admin), counters(java_admin)
        polls = [poller.poll(timezone.now()) for _ in range(2)]
        after, (stored_after, messages_read_after) = state(java_admin), counters(java_admin)
    finally:
        poller.close()
    members = polls[-1].members
    assert members is not None
    asked = [client.client_id for client in members.clients if client.group == "harmless" and client.error is None]
    assert (polls[-1].row.complete, len(asked)) == (True, 1)
    given = [len(client.broker_assigned or ()) for client in members.clients if client.group == "harmless-given"]
    assert given == [2]
    assert (after, stored_after) == (before, stored)
    # The store time of the first message that a lagging group has not consumed, asked once while it stays the same.
    lagging = QueueSample.objects.filter(first_stored_at__isnull=False).count()
    # Messages that other tests left on delay levels are looked at too.
    delayed = sum(poll.row.members["delays"]["looked_at"] for poll in polls)
    assert messages_read_after - messages_read <= lagging + delayed
