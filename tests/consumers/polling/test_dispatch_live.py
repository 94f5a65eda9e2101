"""A real broker that stores messages and cannot put them into its consume queues."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from consumers.groups.listing import group_list
from consumers.groups.rows import GroupFilters, GroupRow
from consumers.lake.store import Lake
from consumers.models import Broker, Cluster
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]
GROUP, TOPIC, HELD_UP = "dispatch_live", "DispatchLive", "HeldUp"


@pytest.fixture(scope="module")
def rocketmq(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RocketMQ, JavaAdmin]]:
    """The group stands at 4 of 10 messages."""
    folder = tmp_path_factory.mktemp("dispatch")
    with RocketMQ(folder, rocketmq_jars) as cluster, JavaAdmin(cluster, rocketmq_jars) as admin:
        admin.create_topic(TOPIC, 1)
        admin.create_topic(HELD_UP, 1)
        admin.create_group(GROUP)
        admin.send(TOPIC, "broker-a", 0, 10)
        admin.set_offset(GROUP, TOPIC, "broker-a", 0, 4)
        yield cluster, admin


@pytest.fixture
def poller(rocketmq: tuple[RocketMQ, JavaAdmin], tmp_path: Path, settings: Any) -> Iterator[ClusterPoller]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    settings.POLL_DISPATCH_BEHIND_MIB = 0
    cluster = Cluster.objects.create(name="prod", namesrv=rocketmq[0].namesrv, created_at=timezone.now())
    poller = ClusterPoller(cluster, PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, Lake.at(str(tmp_path)), 0))
    yield poller
    poller.close()


def shown() -> GroupRow:
    return next(row for row in group_list(GroupFilters(), now=timezone.now()).rows if row.group == GROUP)


def poll_until(poller: ClusterPoller, lag: tuple[int | None, int | None]) -> GroupRow:
    deadline = time.monotonic() + 240
    while True:
        poller.poll(timezone.now())
        row = shown()
        if (row.lag_messages, row.lag_messages_at_least) == lag:
            return row
        assert time.monotonic() < deadline, row
        time.sleep(0.3)


def test_a_lag_is_at_least_what_is_dispatched(
    poller: ClusterPoller, rocketmq: tuple[RocketMQ, JavaAdmin], admin_client: Client
) -> None:
    cluster, admin = rocketmq
    # A broker that has just started may refuse to tell of its dispatch.
    poll_until(poller, (6, 6))
    # Where the folder of a topic's consume queues is to be is a file: for 30 s the broker tries again and dispatches
    # nothing (RocketMQ 5.4.0, ConsumeQueue.putMessagePositionInfoWrapper). Then it would take no more messages.
    in_the_way = cluster.brokers["broker-a"].store / "consumequeue" / HELD_UP
    in_the_way.write_text("")
    try:
        admin.send(HELD_UP, "broker-a", 0, 1, awaited=False)
        admin.send(TOPIC, "broker-a", 0, 5, awaited=False)
        row = poll_until(poller, (None, 6))
        behind = Broker.objects.get(name="broker-a").dispatch_behind_bytes
        page = admin_client.get(f"/groups/prod/{GROUP}/").text
    finally:
        in_the_way.unlink()

    assert behind is not None
    assert behind > 0
    assert "that it has not dispatched: its lags are lower bounds" in (row.unknown_reason or "")
    assert "≥ 6" in page
    poll_until(poller, (11, 11))
    assert Broker.objects.get(name="broker-a").dispatch_behind_bytes == 0
