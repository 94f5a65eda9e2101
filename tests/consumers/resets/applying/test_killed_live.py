"""Two real brokers, a worker that is killed in the middle of a reset, and a broker that is killed under the next."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.writes import BrokerSends, OffsetWrites, Outgoing
from dashboard.demo.children import kill_child, start_child
from dashboard.demo.cluster import RocketMQ
from tests.plugins.calling import PROJECT
from tests.plugins.java_admin import JavaAdmin

pytestmark = pytest.mark.live

GROUP, TOPIC = "reset_killed", "ResetKilled"
QUEUES, STOOD = 150, 2
CHILD = PROJECT / "tests" / "plugins" / "reset_child.py"
Place = tuple[str, int]


class Site:
    """Its database is a file that each worker opens."""

    def __init__(self, home: Path) -> None:
        self._database = home / "site.sqlite3"
        own = {"DATABASE_URL": f"sqlite:///{self._database}", "CONSUMERSCOPE_HOME": str(home)}
        settings = {"DJANGO_SETTINGS_MODULE": "dashboard.settings", "PYTHONPATH": str(PROJECT)}
        patience = {"RESET_SETTLED_SECONDS": "2", "REDIS_URL": f"unix://{home / 'none.sock'}"}
        self._environ = {**os.environ, **own, **settings, **patience}
        self._log = home / "worker.log"

    def call(self, *arguments: str) -> Any:
        program = [sys.executable, str(CHILD), *arguments]
        done = subprocess.run(program, env=self._environ, capture_output=True, text=True, timeout=480, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start_worker(self, reset: str, ahead: int) -> "subprocess.Popen[bytes]":
        program = [sys.executable, CHILD, "work", reset, str(ahead)]
        return start_child(program, log=self._log, environ=self._environ)

    def ask(self, question: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self._database, timeout=80) as database:
            return database.execute(question).fetchall()

    def status(self) -> str:
        return str(self.ask("SELECT status FROM consumers_reset")[0][0])

    def rows(self) -> dict[Place, tuple[str, str | None]]:
        found = self.ask("SELECT broker, queue_id, step, outcome FROM consumers_resetqueue WHERE left_out IS NULL")
        return {(broker, queue_id): (step, outcome) for broker, queue_id, step, outcome in found}

    def steps_at(self, broker: str) -> dict[str, int]:
        told = f"SELECT step, count(*) FROM consumers_resetqueue WHERE broker = '{broker}' GROUP BY step"
        return dict(self.ask(told))


def run(cluster: RocketMQ, broker: str, use: Callable[[ConnectionPool, str], Any]) -> Any:
    async def main() -> Any:
        async with ConnectionPool() as pool:
            return await use(pool, cluster.brokers[broker].address)

    return asyncio.run(main())


async def fill(pool: ConnectionPool, address: str) -> None:
    """Each queue holds two messages, and the group stands behind them."""
    sends, writes = BrokerSends(pool, address), OffsetWrites(pool, address)
    letter = Outgoing(b"body", "", flag=0, sys_flag=0, born_ms=int(time.time() * 1000))
    for _ in range(STOOD):
        await asyncio.gather(*(sends.send(TOPIC, queue_id, letter) for queue_id in range(QUEUES)))
    # A group's first offsets of a topic, committed at once, may replace each other (5.4.0, ConsumerOffsetManager).
    await writes.commit(GROUP, TOPIC, 0, STOOD)
    await asyncio.gather(*(writes.commit(GROUP, TOPIC, queue_id, STOOD) for queue_id in range(1, QUEUES)))


async def stands(pool: ConnectionPool, address: str) -> dict[int, int | None]:
    broker = BrokerAdmin(pool, address)
    offsets = await asyncio.gather(*(broker.consumer_offset(GROUP, TOPIC, queue_id) for queue_id in range(QUEUES)))
    return dict(enumerate(offsets))


def offsets(cluster: RocketMQ) -> dict[Place, int | None]:
    return {(name, queue): at for name in cluster.brokers for queue, at in run(cluster, name, stands).items()}


def wait_until(true: Callable[[], bool], worker: "subprocess.Popen[bytes] | None" = None) -> None:
    give_up = time.monotonic() + 480
    while not true():
        assert time.monotonic() < give_up
        assert worker is None or worker.poll() is None
        time.sleep(0.005)


def is_flushed(cluster: RocketMQ, broker: str) -> bool:
    """A broker that is killed forgets what it has not written to its file, which it does every five seconds."""
    file = cluster.brokers[broker].store / "config" / "consumerOffset.json"
    return file.exists() and f"{TOPIC}@{GROUP}" in file.read_text()


@pytest.fixture
def site(rocketmq_pair: RocketMQ, java_admin_pair: JavaAdmin, tmp_path: Path) -> Site:
    java_admin_pair.create_group(GROUP)
    java_admin_pair.create_topic(TOPIC, QUEUES)
    for broker in rocketmq_pair.brokers:
        run(rocketmq_pair, broker, fill)
    return Site(tmp_path)


def test_a_killed_worker_and_a_killed_broker_leave_a_true_record_and_it_goes_on(
    site: Site, rocketmq_pair: RocketMQ
) -> None:
    addresses = {name: broker.address for name, broker in rocketmq_pair.brokers.items()}
    reset = site.call("prepare", rocketmq_pair.namesrv, json.dumps(addresses), GROUP, TOPIC)
    everywhere = {(name, queue_id) for name in addresses for queue_id in range(QUEUES)}

    worker = site.start_worker(reset, 0)
    wait_until(lambda: site.steps_at("broker-a").get("written", 0) > QUEUES // 3, worker)
    kill_child(worker)
    killed, there = site.rows(), offsets(rocketmq_pair)
    assert (site.status(), set(killed)) == ("applying", everywhere)
    in_doubt = [place for place, (step, _) in killed.items() if step == "writing"]
    assert len(in_doubt) <= 1
    for place, (step, _) in killed.items():
        assert (step, there[place]) in {("written", 0), ("planned", STOOD)} or place in in_doubt
    assert 0 < sum(offset == STOOD for offset in there.values()) < 2 * QUEUES

    wait_until(lambda: is_flushed(rocketmq_pair, "broker-b"))
    # A minute later, by its own clock.
    worker = site.start_worker(reset, 60)
    wait_until(lambda: site.steps_at("broker-b").get("written", 0) > QUEUES // 3, worker)
    rocketmq_pair.kill_broker("broker-b")
    wait_until(lambda: site.steps_at("broker-b").get("not done", 0) > 0, worker)
    rocketmq_pair.start_broker("broker-b")
    assert worker.wait(timeout=480) == 0
    told, there = site.rows(), offsets(rocketmq_pair)
    assert site.status() == "partial"
    true = {("CONFIRMED", 0), *((untouched, STOOD) for untouched in ("UNCHANGED", "failed", "not done"))}
    # Of what a dead worker may have written, and of a broker that was away, nobody saw whether a member consumed the
    # queue once more meanwhile.
    unseen = {place for place, (_, outcome) in told.items() if outcome == "UNKNOWN"}
    assert all(place in in_doubt or place[0] == "broker-b" for place in unseen), unseen
    known = everywhere - unseen
    assert {(told[place][1] or told[place][0], there[place]) for place in known} <= true
    assert {told[place][1] for place in known if place[0] == "broker-a"} == {"CONFIRMED"}

    assert site.call("resume", reset, "120") == "ended"
    assert site.status() == ("partial" if unseen else "applied")
    told, there = site.rows(), offsets(rocketmq_pair)
    assert {(told[place], there[place]) for place in known} == {(("read back", "CONFIRMED"), 0)}
    # They are never written again.
    assert {(told[place][1], there[place]) for place in unseen} <= {("UNKNOWN", STOOD)}
