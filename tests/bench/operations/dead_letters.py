"""Dead letters of a real broker, exported and shown by a real worker and web server: seconds, and memory that stays.

Beside an export: the same pulls with nothing made of them. Beside its memory: that at a tenth of the letters.
"""

import asyncio
import contextlib
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.wire.connection import ConnectionPool
from dashboard.demo.cluster import RocketMQ, ensure_jars, jars_folder
from dashboard.demo.java import find_java
from tests.bench.operations.dead_letter_site import Site, running_site
from tests.bench.polling.traffic import fill_with
from tests.bench.processes import PROJECT, python
from tests.bench.result import Result

MANY, FEW, BODY_BYTES = 10_000, 1_000, 1_000
PULLED_AT_ONCE = 32
PAGE_SECONDS, PAGES = 0.3, 7
MESSAGES_AT_ONCE = 1_000


def run(many: int = MANY, few: int = FEW) -> list[Result]:
    jars = ensure_jars(find_java(), jars_folder(PROJECT / "var"), progress=print)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder, RocketMQ(Path(folder) / "rocketmq", jars) as cluster:
        (broker,) = cluster.brokers.values()
        for group, letters in (("few", few), ("many", many)):
            topic = f"%DLQ%{group}"
            cluster.mqadmin("updateTopic", "-b", broker.address, "-t", topic, "-r", "1", "-w", "1")
            asyncio.run(fill_with(broker.address, topic, letters, MESSAGES_AT_ONCE, b"." * BODY_BYTES))
        bare = _bare_seconds(broker.address, "%DLQ%many", many)
        with _site(Path(folder), cluster.namesrv, broker.address) as site:
            return _measured(site, many, few, bare)


@contextlib.contextmanager
def _site(folder: Path, namesrv: str, address: str) -> Iterator[Site]:
    home = folder / "home"
    environ = {"CONSUMERSCOPE_HOME": str(home), "DATABASE_URL": "", "REDIS_URL": f"unix://{home}/redis.sock"}
    told = json.loads(python("tests.bench.operations.dead_letter_rows", namesrv, address, **environ).splitlines()[-1])
    with running_site(home, environ, told["token"], told["session"]) as site:
        yield site


def _measured(site: Site, many: int, few: int, bare: float) -> list[Result]:
    size = f"{many:,} dead letters of {BODY_BYTES:,} B: "
    # Once unmeasured: what is loaded and kept from then on is no letter's.
    site.export("few", few)
    seconds_few, worker_few, web_few = site.export("few", few)
    seconds, worker, web = site.export("many", many)
    page, listing = site.answered_page("many", PAGES), site.page("/groups/bench/many/dlq/", PAGES)
    tenth = f"the same at {few:,}"
    return [
        Result(size + "export with bodies", seconds, "s", "bare pulls", bare, bare / seconds, "through worker and web"),
        Result("export, for each letter", 1e6 * seconds / many, "µs", tenth, 1e6 * seconds_few / few,
               (seconds_few / few) / (seconds / many), ""),
        Result(size + "memory of the worker", worker, "MiB", tenth, worker_few, worker_few / worker, "the most held"),
        Result(size + "memory of the web", web, "MiB", tenth, web_few, web_few / web, "the most held"),
        Result("one letter, shown from its answer", 1e3 * page, "ms", "the goal", 1e3 * PAGE_SECONDS,
               PAGE_SECONDS / page, ""),
        Result(size + "a page of the list", 1e3 * listing, "ms", "the goal", 1e3 * PAGE_SECONDS,
               PAGE_SECONDS / listing, "100 letters a page"),
    ]  # fmt: skip


def _bare_seconds(address: str, topic: str, letters: int) -> float:
    async def pull_all() -> None:
        async with ConnectionPool() as pool:
            admin, at = BrokerAdmin(pool, address), 0
            while at < letters:
                at = (await admin.pull(topic, 0, at, PULLED_AT_ONCE)).next_offset

    began = time.perf_counter()
    asyncio.run(pull_all())
    return time.perf_counter() - began
