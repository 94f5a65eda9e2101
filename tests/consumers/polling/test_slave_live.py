"""A real master that is killed, and its real slave."""

import asyncio
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from consumers.lake.store import Lake
from consumers.models import Broker, Cluster, QueueSnapshot
from consumers.polling.cadence import Cadence
from consumers.polling.members.turn import Budget
from consumers.polling.poll import ClusterPoller
from consumers.polling.reading import BrokerReading
from consumers.polling.settings import PollSettings
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.pool import ConnectionPool
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import JavaAdmin

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]


@pytest.fixture(scope="module")
def pair(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RocketMQ]:
    """A master and its slave. A queue of ten messages, of which `slaveread` has consumed four."""
    with RocketMQ(tmp_path_factory.mktemp("slave"), rocketmq_jars, slaves=True) as cluster:
        with JavaAdmin(cluster, rocketmq_jars) as admin:
            admin.create_topic("SlaveRead", 1)
            admin.create_group("slaveread")
            admin.send("SlaveRead", "broker-a", 0, 10)
            admin.set_offset("slaveread", "SlaveRead", "broker-a", 0, 4)
        master, slave = (
            broker.store / "config" for broker in (cluster.brokers["broker-a"], cluster.slaves["broker-a"])
        )
        offsets = master / "consumerOffset.json"
        wait(lambda: offsets.exists() and "SlaveRead@slaveread" in offsets.read_text(), 90)
        # What the slave would take over by itself, a minute after its start.
        shutil.copytree(master, slave)
        cluster.start_slave("broker-a")
        yield cluster


@pytest.fixture
def poller(pair: RocketMQ, tmp_path: Path, settings: Any) -> Iterator[ClusterPoller]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path)
    cluster = Cluster.objects.create(name="pair", namesrv=pair.namesrv, created_at=timezone.now())
    poller = ClusterPoller(cluster, PollSettings(Cadence(0, 0), Budget(1000, 100), 5.0, Lake.at(str(tmp_path)), 0))
    yield poller
    poller.close()


def poll(poller: ClusterPoller) -> BrokerReading:
    (part,) = poller.poll(timezone.now()).offsets.brokers
    return part


def wait(seen: Callable[[], bool], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < deadline
        time.sleep(0.5)


def lag() -> int | None:
    row = QueueSnapshot.objects.get(group__name="slaveread", queue__topic__name="SlaveRead")
    return None if row.consumer_offset is None or row.broker_offset is None else row.broker_offset - row.consumer_offset


def messages_at(address: str) -> int:
    async def ask() -> int:
        async with ConnectionPool() as pool:
            return await BrokerAdmin(pool, address).max_offset("SlaveRead", 0)

    return asyncio.run(ask())


def test_a_killed_masters_slave_is_read_until_the_master_is_back(poller: ClusterPoller, pair: RocketMQ) -> None:
    assert (poll(poller).read_from, lag()) == (None, 6)
    slave = pair.slaves["broker-a"].address
    client = APIClient()
    client.force_authenticate(User.objects.create(username="viewer"))

    wait(lambda: messages_at(slave) == 10, 90)
    pair.kill_broker("broker-a")
    part = poll(poller)
    assert (part.read, part.read_from, lag()) == (True, slave, 6)
    row = Broker.objects.get(broker_id=0)
    assert (row.read_from, row.reachable, row.failing_since) == (slave, False, None)
    master = client.get("/api/v1/clusters/").json()["results"][0]["brokers"][0]
    assert master["read_from"] == slave
    assert master["note"] == f"read from slave {slave}; its consumer offsets may be up to 63 s behind"
    assert master["error"] == part.master_error

    pair.start_broker("broker-a")
    assert poll(poller).read_from is None
    assert (Broker.objects.get(broker_id=0).read_from, lag()) == (None, 6)
