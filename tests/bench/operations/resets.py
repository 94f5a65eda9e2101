"""Offsets of a group without members on a real broker: planned, moved and read back, beside mqadmin.

Its resetOffsetByTime moves a topic a run, each with a JVM that starts; it plans, keeps and reads back nothing.
"""

import asyncio
import json
import tempfile
import time
from pathlib import Path

from dashboard.demo.cluster import RocketMQ, ensure_jars, jars_folder
from dashboard.demo.java import find_java
from tests.bench.polling.traffic import commit, fill
from tests.bench.processes import PROJECT, python
from tests.bench.result import Result

TOPICS, QUEUES, GROUP, MESSAGES = 4, 250, "bench", 10


def run(topics: int = TOPICS, queues: int = QUEUES) -> list[Result]:
    jars = ensure_jars(find_java(), jars_folder(PROJECT / "var"), progress=print)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, RocketMQ(Path(folder) / "rocketmq", jars) as cluster:
        (broker,) = cluster.brokers.values()
        names = [f"Bench{number}" for number in range(topics)]
        for name in names:
            cluster.mqadmin("updateTopic", "-b", broker.address, "-t", name, "-r", str(queues), "-w", str(queues))
        cluster.mqadmin("updateSubGroup", "-b", broker.address, "-g", GROUP)
        asyncio.run(fill(broker.address, names, queues, MESSAGES))
        commits = [(GROUP, name, queue, MESSAGES) for name in names for queue in range(queues)]
        asyncio.run(commit(broker.address, commits))
        home = str(Path(folder) / "home")
        environ = {"CONSUMERSCOPE_HOME": home, "DATABASE_URL": "", "REDIS_URL": f"unix://{home}/redis.sock"}
        told = python("tests.bench.operations.reset_run", cluster.namesrv, broker.address, GROUP, *names, **environ)
        return _results(json.loads(told.splitlines()[-1]), _mqadmin_seconds(cluster, names))


def _results(told: dict[str, float], mqadmin: float) -> list[Result]:
    size = f"{told['queues']:,.0f} queues: "
    parts = [("plan", "to the first messages"), ("plan by time", ""), ("write", "each noted before and after"),
             ("whole", "with 12 s of reading back")]  # fmt: skip
    return [
        Result(size + part, told[part], "s", "mqadmin, by time", mqadmin, mqadmin / told[part], note)
        for part, note in parts
    ]


def _mqadmin_seconds(cluster: RocketMQ, topics: list[str]) -> float:
    began = time.perf_counter()
    for topic in topics:
        cluster.mqadmin("resetOffsetByTime", "-n", cluster.namesrv, "-g", GROUP, "-t", topic, "-s", "0")
    return time.perf_counter() - began
