"""The story as it is told: by one process, on a real cluster, through RocketMQ's own clients."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pyarrow.compute as pc
import pytest

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.name_server import NameServer
from consumers.rocketmq.wire.connection import ConnectionPool
from dashboard.demo import shop
from dashboard.demo.actors.actor import PROJECT

pytestmark = pytest.mark.live
GROUPS = {member.group for member in (*shop.STEADY, *shop.AUDIT) if not member.broadcasting}


@pytest.fixture(scope="module")
def demo(rocketmq_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    home = tmp_path_factory.mktemp("home")
    environ = {**os.environ, "CONSUMERSCOPE_HOME": str(home), "CONSUMERSCOPE_JARS": str(rocketmq_jars.parent)}
    command = [sys.executable, "-m", "dashboard.demo"]
    with subprocess.Popen(command, cwd=PROJECT, env=environ, stdout=subprocess.PIPE, text=True) as process:
        yield process, home
        process.kill()


async def groups_with_offsets(namesrv: str) -> set[str]:
    async with ConnectionPool() as pool:
        cluster = await NameServer(pool, [namesrv]).cluster()
        offsets = await BrokerAdmin(pool, cluster.brokers[0].addresses[0]).consumer_offsets()
    moved = offsets.filter(pc.greater(offsets["consumer_offset"], 0))
    return set(moved["group"].to_pylist())


def test_it_announces_its_cluster_plays_every_group_and_leaves_nothing(
    demo: tuple[subprocess.Popen[str], Path],
) -> None:
    process, home = demo
    assert process.stdout is not None
    place = json.loads(process.stdout.readline())
    assert place == json.loads((home / "demo" / "demo.json").read_text())
    deadline = time.monotonic() + 600
    seen: set[str] = set()
    while not seen >= GROUPS or not list((home / "demo" / "rocketmq_offsets").glob("*/pricing-cache/offsets.json")):
        assert time.monotonic() < deadline, f"only {seen} have committed"
        assert process.poll() is None
        seen = asyncio.run(groups_with_offsets(place["namesrv"]))
        time.sleep(1)
    family = psutil.Process(process.pid).children(recursive=True)
    assert len(family) == 4
    process.send_signal(signal.SIGTERM)
    assert process.wait(240) == 0
    _, alive = psutil.wait_procs(family, timeout=120)
    assert alive == []
    assert not (home / "demo" / "demo.json").exists()
