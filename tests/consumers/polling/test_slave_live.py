"""A real master that is killed, and its real slave, whose copy of the consumer offsets may be a minute old."""

import asyncio
import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from consumers.alerts.evaluation.run import evaluate
from consumers.groups.detail import group_queues
from consumers.groups.listing import group_list
from consumers.groups.rows import GroupFilters
from consumers.lake.store import Lake
from consumers.models import AlertRule, Broker, Cluster, ConsumerGroup, Incident, QueueSnapshot, State
from consumers.overview.queries import overview
from consumers.polling.members.membership import Budget
from consumers.polling.memory import Cadence
from consumers.polling.poll import ClusterPoller, PollSettings
from consumers.polling.reading import BrokerReading
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.writes import OffsetWrites
from consumers.vocabulary.states import UnknownReason
from consumers.words.reasons import reason_words, stored_words
from dashboard.demo.cluster import RocketMQ
from tests.alert_rows import the_default_rule
from tests.plugins.java_admin import JavaAdmin

pytestmark = [pytest.mark.live, pytest.mark.django_db(transaction=True)]

# What the master holds of each group, and an older copy that the slave may hold.
OFFSETS, OLDER = {"slaveread": 4, "slaveolder": 8, "slavelost": 5}, {"slaveread": 4, "slaveolder": 3}
ACTING = "enableSlaveActingMaster"
CONFIG = {ACTING: "false"}


@contextmanager
def acting() -> Iterator[None]:
    """Brokers that are started meanwhile let a slave act as master: their settings are written at each start."""
    CONFIG[ACTING] = "true"
    yield
    CONFIG[ACTING] = "false"


@pytest.fixture(scope="module")
def pair(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RocketMQ]:
    """A master and its slave, and a queue of ten messages."""
    with RocketMQ(tmp_path_factory.mktemp("slave"), rocketmq_jars, slaves=True, config=CONFIG) as cluster:
        with JavaAdmin(cluster, rocketmq_jars) as admin:
            admin.create_topic("SlaveRead", 1)
            admin.send("SlaveRead", "broker-a", 0, 10)
            for group, offset in OFFSETS.items():
                admin.create_group(group)
                admin.set_offset(group, "SlaveRead", "broker-a", 0, offset)
        master, slave = (
            broker.store / "config" for broker in (cluster.brokers["broker-a"], cluster.slaves["broker-a"])
        )
        offsets = master / "consumerOffset.json"
        wait(lambda: offsets.exists() and all(f"SlaveRead@{group}" in offsets.read_text() for group in OFFSETS), 360)
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

    wait(lambda: messages_at(slave) == 10, 360)
    pair.kill_broker("broker-a")
    part = poll(poller)
    assert (part.read, part.read_from, lag()) == (True, slave, 6)
    row = Broker.objects.get(broker_id=0)
    assert (row.read_from, row.reachable, row.failing_since) == (slave, False, None)
    master = client.get("/api/v1/clusters/").json()["results"][0]["brokers"][0]
    assert master["read_from"] == slave
    assert master["note"] == f"read from slave {slave}; its consumer offsets may lag by up to 63 s"
    assert master["error"] == part.master_error

    pair.start_broker("broker-a")
    assert poll(poller).read_from is None
    assert (Broker.objects.get(broker_id=0).read_from, lag()) == (None, 6)


def restart_slave(pair: RocketMQ, offsets: Mapping[str, int]) -> None:
    """With an older copy of its master's offsets. It asks its master for a new one a minute later only."""
    slave, name = pair.slaves["broker-a"], Path("config") / "consumerOffset.json"
    slave.server.kill()
    text = (pair.brokers["broker-a"].store / name).read_text()
    # As many commits as its master has counted: it counts by the 500.
    version = json.JSONDecoder().raw_decode(text, text.index("{", text.index('"dataVersion"')))[0]
    table = {f"SlaveRead@{group}": {0: offset} for group, offset in offsets.items()}
    (slave.store / f"{name}.bak").unlink(missing_ok=True)
    (slave.store / name).write_text(json.dumps({"dataVersion": version, "offsetTable": table}))
    pair.start_slave("broker-a")
    wait(lambda: messages_at(slave.address) == 10, 360)


def commit(address: str, group: str, offset: int) -> None:
    async def ask() -> None:
        async with ConnectionPool() as pool:
            await OffsetWrites(pool, address).commit(group, "SlaveRead", 0, offset)

    asyncio.run(ask())


def said() -> dict[str, tuple[int | None, int | None, str | None]]:
    rows = QueueSnapshot.objects.filter(queue__topic__name="SlaveRead", group__name__in=OFFSETS)
    names = ("group__name", "consumer_offset", "broker_offset", "unknown_reason")
    return {group: (consumer, end, why) for group, consumer, end, why in rows.values_list(*names)}


def incidents() -> dict[str, tuple[str, float | None]]:
    """By subject; those of lost offsets are of the broker."""
    evaluate(timezone.now(), timezone.now)
    rows = Incident.objects.exclude(group__name="slaveread").values_list("subject_key", "status", "value")
    return {subject: (status, value) for subject, status, value in rows}


def rules() -> None:
    the_default_rule("offsets_lost")
    rule = {"measure": "lag_messages", "comparison": "above", "threshold": 1, "severity": "warning"}
    AlertRule.objects.create(name="Behind", changed_at=timezone.now(), **rule)
    # Resolved by the first evaluation that finds it over.
    AlertRule.objects.update(clear_seconds=0)


AS_MASTER = {group: (offset, 10, None) for group, offset in OFFSETS.items()}
AS_SLAVE = {
    "slaveread": (4, 10, None),
    "slaveolder": (None, 10, UnknownReason.SLAVE_BEHIND),
    "slavelost": (None, 10, UnknownReason.OFFSET_LOST),
}
OLDER_GROUP, LOST_GROUP, BROKER = "group:pair/slaveolder", "group:pair/slavelost", "broker:pair/broker-a"


def test_what_a_slave_lacks_or_has_older_is_said_until_the_master_is_back(
    poller: ClusterPoller, pair: RocketMQ
) -> None:
    rules()
    restart_slave(pair, OLDER)
    poll(poller)
    assert said() == AS_MASTER
    assert incidents() == {OLDER_GROUP: ("firing", 2), LOST_GROUP: ("firing", 5)}

    pair.kill_broker("broker-a")
    slave = pair.slaves["broker-a"].address
    assert (poll(poller).read_from, said()) == (slave, AS_SLAVE)
    # Another worker, which never saw the master, says the same.
    successor = ClusterPoller(poller.cluster, poller.settings)
    assert (poll(successor).read_from, said()) == (slave, AS_SLAVE)
    successor.close()

    now = timezone.now()
    groups = {row.group: row for row in group_list(GroupFilters(), now=now).rows}
    assert [groups[name].lag_messages for name in ("slaveread", "slaveolder", "slavelost")] == [6, None, None]
    assert groups["slavelost"].state == State.LOSS
    assert f"slave {slave} is read in its master's place" in groups["slavelost"].state_detail
    assert groups["slaveolder"].unknown_reason == f"{reason_words(UnknownReason.SLAVE_BEHIND)}: {slave}"
    [queue] = group_queues(ConsumerGroup.objects.get(name="slaveolder"), now=now)
    assert (queue.lag_messages, queue.consumer_offset) == (None, None)
    assert queue.unknown_reason is not None
    assert queue.unknown_reason.startswith(
        f"{reason_words(UnknownReason.SLAVE_BEHIND)}: {slave} · last known offset 8 · last read "
    )
    [loss] = overview(since=now, until=now, now=now).losses
    assert (loss.from_slave, loss.queues, list(loss.groups.values())) == (slave, 1, ["slavelost"])
    # What was open is not over: its last known value stays, with why there is none.
    open_incidents = {OLDER_GROUP: ("firing", 2), LOST_GROUP: ("firing", 5), BROKER: ("firing", 1)}
    assert incidents() == open_incidents
    stored = Incident.objects.get(subject_key=OLDER_GROUP).unknown_reason
    assert stored_words(stored) == f"{reason_words(UnknownReason.SLAVE_BEHIND)}: {slave}"
    assert Incident.objects.get(subject_key=BROKER).severity == "critical"

    pair.start_broker("broker-a")
    assert (poll(poller).read_from, said()) == (None, AS_MASTER)
    assert incidents() == open_incidents | {BROKER: ("resolved", 0)}
    assert not QueueSnapshot.objects.filter(lost_offset__isnull=False).exists()


def test_commits_to_a_slave_that_acts_as_master_count(poller: ClusterPoller, pair: RocketMQ) -> None:
    pair.kill_broker("broker-a")
    pair.slaves["broker-a"].server.kill()
    with acting():
        pair.start_broker("broker-a")
        restart_slave(pair, OLDER)
    poll(poller)
    assert said() == AS_MASTER

    pair.kill_broker("broker-a")
    slave = pair.slaves["broker-a"].address
    assert (poll(poller).read_from, said()) == (slave, AS_SLAVE)
    # A commit ends a loss. An offset is known once it has passed the master's last one.
    commit(slave, "slavelost", 1)
    commit(slave, "slaveolder", 4)
    poll(poller)
    assert said() == AS_SLAVE | {"slavelost": (1, 10, None)}
    commit(slave, "slaveolder", 9)
    poll(poller)
    assert said() == AS_MASTER | {"slavelost": (1, 10, None), "slaveolder": (9, 10, None)}

    # It takes its slave for one that does not act, and resumes from its own file.
    pair.start_broker("broker-a")
    assert (poll(poller).read_from, said()) == (None, AS_MASTER)
