"""A thousand dead letters on a real broker, and a worker that is killed in the middle of sending them again."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.messages.dead import RESEND_PROPERTY
from consumers.rocketmq.messages.stored import StoredMessage
from consumers.rocketmq.wire.connection import ConnectionPool
from consumers.rocketmq.writes import BrokerSends, Outgoing
from dashboard.demo.children import kill_child, start_child
from dashboard.demo.cluster import RocketMQ
from tests.plugins.calling import PROJECT
from tests.plugins.java_admin import JavaAdmin

pytestmark = pytest.mark.live

GROUP = "resend_killed"
RETRY, DLQ = f"%RETRY%{GROUP}", f"%DLQ%{GROUP}"
LETTERS = 1000
CHILD = PROJECT / "tests" / "plugins" / "resend_child.py"


class Site:
    """Its database is a file that each worker opens."""

    def __init__(self, home: Path) -> None:
        own = {"DATABASE_URL": f"sqlite:///{home / 'site.sqlite3'}", "CONSUMERSCOPE_HOME": str(home)}
        settings = {"DJANGO_SETTINGS_MODULE": "dashboard.settings", "PYTHONPATH": str(PROJECT)}
        self._environ = {**os.environ, **own, **settings, "REDIS_URL": f"unix://{home / 'none.sock'}"}
        self._log = home / "worker.log"

    def call(self, *arguments: str) -> Any:
        program = [sys.executable, str(CHILD), *arguments]
        done = subprocess.run(program, env=self._environ, capture_output=True, text=True, timeout=480, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def start_worker(self, resend: str) -> "subprocess.Popen[bytes]":
        return start_child([sys.executable, CHILD, "work", resend, "0"], log=self._log, environ=self._environ)


def asked(cluster: RocketMQ, use: Callable[[ConnectionPool, str], Any]) -> Any:
    async def main() -> Any:
        async with ConnectionPool() as pool:
            return await use(pool, cluster.brokers["broker-a"].address)

    return asyncio.run(main())


async def bury(pool: ConnectionPool, address: str) -> None:
    sends = BrokerSends(pool, address)

    def letter(number: int) -> Outgoing:
        properties = f"KEYS\x01k{number}\x02RETRY_TOPIC\x01resend_orders\x02"
        born = int(time.time() * 1000)
        return Outgoing(b"body", properties, flag=0, sys_flag=0, born_ms=born, reconsume_times=4)

    for number in range(LETTERS):
        await sends.send(DLQ, 0, letter(number))


async def in_retry(pool: ConnectionPool, address: str) -> list[StoredMessage]:
    broker = BrokerAdmin(pool, address)
    found: list[StoredMessage] = []
    while len(found) < await broker.max_offset(RETRY, 0):
        found.extend((await broker.pull(RETRY, 0, len(found), 32)).messages)
    return found


async def retried(pool: ConnectionPool, address: str) -> int:
    return await BrokerAdmin(pool, address).max_offset(RETRY, 0)


def test_a_killed_worker_loses_no_message_and_sends_none_twice(
    rocketmq: RocketMQ, java_admin: JavaAdmin, tmp_path: Path
) -> None:
    java_admin.create_group(GROUP)
    java_admin.create_topic(RETRY, 1)
    java_admin.create_topic(DLQ, 1)
    asked(rocketmq, bury)
    site = Site(tmp_path)
    resend = site.call("prepare", rocketmq.namesrv, rocketmq.brokers["broker-a"].address, GROUP)

    worker = site.start_worker(resend)
    give_up = time.monotonic() + 240
    while asked(rocketmq, retried) < LETTERS // 3:
        assert time.monotonic() < give_up
        assert worker.poll() is None
    kill_child(worker)
    killed = site.call("report", resend)
    assert (killed["status"], asked(rocketmq, retried) < LETTERS) == ("running", True)

    # A minute later, by its own clock.
    assert site.call("work", resend, "60") == "ended"
    told, there = site.call("report", resend), asked(rocketmq, in_retry)
    assert (told["status"], told["error"], len(told["items"])) == ("done", None, LETTERS)
    marks = [message.properties[RESEND_PROPERTY] for message in there]
    assert len(marks) == len(set(marks)) == LETTERS
    by_mark = {int(mark.split("/")[1]): message for mark, message in zip(marks, there, strict=True)}
    assert [[pk, "sent", by_mark[pk].queue_offset] for pk, *_ in told["items"]] == told["items"]
    assert sorted(message.properties["KEYS"] for message in there) == sorted(f"k{n}" for n in range(LETTERS))
    assert {(m.properties["RETRY_TOPIC"], m.reconsume_times) for m in there} == {("resend_orders", 0)}
    assert asked(rocketmq, letters_left) == LETTERS


async def letters_left(pool: ConnectionPool, address: str) -> int:
    """Sending one again takes none away."""
    broker = BrokerAdmin(pool, address)
    return await broker.max_offset(DLQ, 0) - await broker.min_offset(DLQ, 0)
