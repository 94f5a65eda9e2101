"""The night's second part: brokers that crash, lose their offset file or are given another one, a slave that stands
in, a broadcasting member that is killed, and a consumption that takes longer than `consumeTimeout`.

Each happens once, on real brokers, in groups of their own. Offset files and one client's log are followed.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from consumers.logs.follow import FollowRules, follow_cluster
from consumers.models import Broker
from consumers.rocketmq.admin import BrokerAdmin
from consumers.vocabulary.repeats import RepeatCause
from dashboard.demo.cluster import RocketMQ
from tests.consumers.repeats.conftest import POLL_SECONDS, polled_site
from tests.consumers.repeats.night import NightGroup, delivered
from tests.consumers.repeats.scripted import (
    COMMIT_SECONDS,
    FIRST_COMMIT_SECONDS,
    Night,
    assert_narrow,
    assert_told,
    noting_processes,
    owners,
)
from tests.plugins.java_admin import JavaAdmin
from tests.plugins.noting_members import NotingMembers

pytestmark = [
    pytest.mark.live,
    pytest.mark.spark,
    # Five minutes of brokers that fail: with the other faults, not in every run of the tests.
    pytest.mark.faults,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("tasks_at_once"),
    pytest.mark.timeout(2700),
]

STAYING, TIMED, BROADCASTING = "staying", "timed", "broadcasting"
# A broker that is killed lacks what was committed since its last flush: 40 s at most, the first after 10 s.
CONFIG = {
    "flushConsumerOffsetInterval": "40000",
    "slaveReadEnable": "true",
    "messageDelayLevel": "1s 1s 1s 2s" + 14 * " 1h",
}
CRASHED, LOST, RESTORED, MASTER = "broker-a", "broker-b", "broker-c", "broker-d"
OFFSETS = Path("config") / "consumerOffset.json"
# Members ask for routes so often; a queue without a route is given up.
ROUTE = {"route_milliseconds": 2000}
AWAY_SECONDS = 8.0
# RocketMQ 5.4.0 looks once every consumeTimeout, a minute here, for messages that took as long.
TIMEOUT_SECONDS = 135.0
SLOW, SLOWEST = (0.03, 0.06), (0.15, 0.3)

# Owners of queues that are on two brokers give those of a dead one up; others keep theirs, and commit them again.
CRASH_DROPPED = NightGroup(
    "crash_dropped",
    2,
    150,
    CRASHED,
    RepeatCause.BROKER_CRASH,
    seconds=SLOWEST,
    second=MASTER,
    membership=ROUTE,
)
CRASH_LEFT = NightGroup("crash_left", 2, 100, CRASHED, RepeatCause.BROKER_CRASH)
CRASH_KEPT = NightGroup("crash_kept", 2, 150, CRASHED, seconds=SLOWEST)
LOST_DROPPED = NightGroup(
    "lost_dropped", 2, 100, LOST, RepeatCause.OFFSET_FILE_LOST, seconds=SLOW, second=MASTER, membership=ROUTE
)
LOST_KEPT = NightGroup("lost_kept", 2, 100, LOST)
RESTORED_DROPPED = NightGroup(
    "restored", 2, 100, RESTORED, RepeatCause.OFFSET_FILE_CHANGED, seconds=SLOW, second=MASTER, membership=ROUTE
)
RESTORED_LEFT = NightGroup("restored_left", 2, 100, RESTORED, RepeatCause.OFFSET_FILE_CHANGED)
EDITED = NightGroup("edited", 2, 100, RESTORED, RepeatCause.OFFSET_FILE_CHANGED)
FAILOVER = NightGroup("failover", 2, 100, MASTER, RepeatCause.SLAVE_FAILOVER, seconds=SLOW)
FAILOVER_KEPT = NightGroup("failover_kept", 2, 100, MASTER)
BROADCAST = NightGroup(
    "broadcast", 2, 250, MASTER, RepeatCause.BROADCAST_CRASH, seconds=SLOW,
    membership={"broadcasting": True, "commit_milliseconds": 15_000},
)  # fmt: skip
BROADCAST_LEFT = NightGroup(
    "broadcast_left", 2, 250, MASTER, tolerated=(RepeatCause.BROADCAST_CRASH,), membership={"broadcasting": True}
)
TIMEOUT = NightGroup(
    "timeout", 1, 40, MASTER, RepeatCause.CONSUME_TIMEOUT,
    behaviour={"holds_at": 7, "holds_seconds": 150}, membership={"timeout_minutes": 1},
)  # fmt: skip
QUIET = NightGroup("quiet", 2, 100, MASTER)
GROUPS = (
    CRASH_DROPPED, CRASH_LEFT, CRASH_KEPT, LOST_DROPPED, LOST_KEPT, RESTORED_DROPPED, RESTORED_LEFT, EDITED, FAILOVER,
    FAILOVER_KEPT, BROADCAST, BROADCAST_LEFT, TIMEOUT, QUIET,
)  # fmt: skip
FILED = tuple(one for one in GROUPS if one not in (BROADCAST, BROADCAST_LEFT))


@pytest.fixture
def rocketmq_stores(rocketmq_jars: Path, tmp_path: Path) -> Iterator[RocketMQ]:
    with RocketMQ(tmp_path / "rocketmq", rocketmq_jars, 4, CONFIG, slaves=True) as cluster:
        yield cluster


@pytest.fixture
def scripted(
    rocketmq_stores: RocketMQ, rocketmq_jars: Path, api: Client, tmp_path: Path, settings: Any
) -> Iterator[Night]:
    settings.CONSUMERSCOPE_LAKE = str(tmp_path / "lake")
    files = [f"{name}={broker.store / OFFSETS}" for name, broker in rocketmq_stores.brokers.items()]
    files.append(f"{tmp_path}/*/rocketmq_offsets/*/*/offsets.json")
    followed = {"offset_files": ";".join(files), "client_logs": f"{tmp_path}/{TIMED}/rocketmq_client.log"}
    names, brokers = (STAYING, TIMED, BROADCASTING), (CRASHED, LOST, RESTORED)
    with (
        JavaAdmin(rocketmq_stores, rocketmq_jars) as admin,
        noting_processes(rocketmq_stores.namesrv, rocketmq_jars, tmp_path, names) as started,
        polled_site(rocketmq_stores, admin, api, tmp_path / "lake", brokers, **followed) as site,
    ):
        for group in GROUPS:
            for broker in (group.broker, group.second):
                if broker is not None:
                    admin.create_topic(group.topic, group.queues, broker=broker)
            admin.create_group(group.group)
        yield Night(site, admin, started, STAYING)


def begin(scripted: Night, rocketmq: RocketMQ) -> None:
    """Everybody is at work, and the brokers' files hold what was committed of a first half."""
    special = {TIMEOUT: TIMED, BROADCAST: BROADCASTING}
    for group in GROUPS:
        scripted.start(special.get(group, STAYING), group, 1)
    scripted.send(*GROUPS)
    scripted.until(lambda: all(owners(one) for one in GROUPS), "a group has no owner")
    scripted.until(lambda: scripted.is_delivered(*GROUPS), "not everything was consumed")
    scripted.leave(BROADCAST_LEFT)
    scripted.rest(2 * POLL_SECONDS)
    scripted.start(STAYING, BROADCAST_LEFT, 1)
    files = {one: (rocketmq.brokers[one.broker].store / OFFSETS) for one in FILED if one is not TIMEOUT}

    def is_flushed() -> bool:
        wanted = (f'"{one.topic}@{one.group}":{{0:{one.each},1:{one.each}' for one in files)
        texts = {one: "".join(path.read_text().split()) if path.exists() else "" for one, path in files.items()}
        return all(text in texts[one] for one, text in zip(files, wanted, strict=True))

    scripted.until(is_flushed, "the brokers' files lack what was committed")


def evening(scripted: Night) -> None:
    """A second half is consumed and committed in part; a broadcasting member is killed, and begins again."""
    scripted.send(BROADCAST)
    scripted.rest(2 * POLL_SECONDS)
    scripted.note_in_flight(BROADCAST, 1)
    scripted.processes[BROADCASTING].kill()


def restarted_broadcast(scripted: Night, rocketmq: RocketMQ, jars: Path, folder: Path) -> None:
    before = scripted.processes[BROADCASTING]
    members = NotingMembers(rocketmq.namesrv, jars, folder / BROADCASTING, BROADCASTING)
    scripted.processes[BROADCASTING] = members
    scripted.start(BROADCASTING, BROADCAST, 1)
    assert before.deliveries()


def night(scripted: Night, rocketmq: RocketMQ) -> None:
    """Three brokers go at once, and come back: one with an old file, one without, one with that of a backup."""
    backups = {name: rocketmq.home / f"{name}-backup" for name in (RESTORED, MASTER)}
    for name, backup in backups.items():
        shutil.copytree(rocketmq.brokers[name].store / "config", backup)
    committed = (CRASH_LEFT, RESTORED_LEFT, FAILOVER, LOST_KEPT)
    scripted.send(*committed, FAILOVER_KEPT)
    scripted.send(CRASH_DROPPED, CRASH_KEPT, LOST_DROPPED, RESTORED_DROPPED)
    scripted.until(lambda: scripted.is_delivered(*committed, LOST_DROPPED), "not everything was consumed")
    scripted.rest(COMMIT_SECONDS)
    scripted.leave(CRASH_LEFT, RESTORED_LEFT, FAILOVER)
    for group in (CRASH_DROPPED, CRASH_KEPT, LOST_DROPPED):
        scripted.note_in_flight(group, 1)
    for name in (CRASHED, LOST):
        rocketmq.kill_broker(name)
    scripted.meanwhile(rocketmq.brokers[RESTORED].server.stop, "the broker does not stop")
    for path in (OFFSETS, OFFSETS.with_name(f"{OFFSETS.name}.bak")):
        (rocketmq.brokers[LOST].store / path).unlink(missing_ok=True)
    # As `cp -p` and most backups do: with its old time.
    shutil.copy2(backups[RESTORED] / OFFSETS.name, rocketmq.brokers[RESTORED].store / OFFSETS)
    scripted.rest(AWAY_SECONDS)
    come_back(scripted, rocketmq, CRASHED, LOST, RESTORED)


def come_back(scripted: Night, rocketmq: RocketMQ, *names: str) -> None:
    # A server dies with the thread that launched it.
    for name in names:
        rocketmq.brokers[name].server.launch()

    def wait() -> None:
        for name in names:
            rocketmq.start_broker(name)

    scripted.meanwhile(wait, "the brokers do not come back")
    failing = Broker.objects.filter(name__in=names, failing_since__isnull=False)
    scripted.until(lambda: not failing.exists(), "a broker is not read again")


def morning(scripted: Night) -> None:
    """Members that had left come back."""
    for group in (CRASH_LEFT, RESTORED_LEFT):
        scripted.start(STAYING, group, 1)
    back = (CRASH_DROPPED, CRASH_LEFT, CRASH_KEPT, LOST_DROPPED, LOST_KEPT, RESTORED_DROPPED, RESTORED_LEFT)
    scripted.until(lambda: scripted.is_committed(*back), "not everything was committed again")


def failover(scripted: Night, rocketmq: RocketMQ) -> None:
    """A slave with older offsets stands in for its master; another broker is stopped meanwhile, and its file edited."""
    slave = rocketmq.slaves[MASTER]
    shutil.copytree(rocketmq.home / f"{MASTER}-backup", slave.store / "config")
    # A minute later it would copy its master's offsets.
    slave.server.launch()
    scripted.meanwhile(lambda: rocketmq.start_slave(MASTER), "the slave does not start")

    def is_copied() -> bool:
        wire = scripted.site.wire
        ends = [wire.run(BrokerAdmin(wire.pool, slave.address).max_offset(FAILOVER.topic, queue)) for queue in range(2)]
        return ends == [2 * FAILOVER.each] * 2

    scripted.until(is_copied, "the slave does not copy its master's messages")
    rocketmq.kill_broker(MASTER)
    scripted.leave(EDITED)
    edited = rocketmq.brokers[RESTORED]

    def edit() -> None:
        edited.server.stop()
        path = edited.store / OFFSETS
        text = path.read_text()
        key = text.index(f'"{EDITED.topic}@{EDITED.group}"')
        lowered = text[key:].replace(f":{EDITED.each}", f":{EDITED.each // 2}", EDITED.queues)
        path.write_text(text[:key] + lowered)

    scripted.meanwhile(edit, "the broker does not stop")
    scripted.start(STAYING, FAILOVER, 1)
    come_back(scripted, rocketmq, RESTORED)
    scripted.start(STAYING, EDITED, 1)
    scripted.rest(FIRST_COMMIT_SECONDS + COMMIT_SECONDS)


def test_each_cause_of_a_nights_second_part_is_found_and_nothing_else(
    scripted: Night,
    rocketmq_stores: RocketMQ,
    rocketmq_jars: Path,
    tmp_path: Path,
    evaluated: Callable[[str, str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    started = time.monotonic()
    begin(scripted, rocketmq_stores)
    evening(scripted)
    night(scripted, rocketmq_stores)
    restarted_broadcast(scripted, rocketmq_stores, rocketmq_jars, tmp_path)
    morning(scripted)
    scripted.rest(max(TIMEOUT_SECONDS - (time.monotonic() - started), 0))
    retried = [one for one in scripted.deliveries() if one.group == TIMEOUT.group and one.reconsume_times]
    assert retried, "no consumption timed out"
    scripted.until_minute()
    failover(scripted, rocketmq_stores)
    lasted = time.monotonic() - started
    follow_cluster(scripted.site.registered, timezone.now(), FollowRules.of_site())
    evaluated(scripted.first, scripted.last)
    assert delivered(scripted.deliveries(), BROADCAST) == 2 * BROADCAST.queues * BROADCAST.each
    with capsys.disabled():
        assert_told(scripted.lines(GROUPS), f"lasted {lasted:.0f} s")
    assert_narrow(scripted.lines(GROUPS))
