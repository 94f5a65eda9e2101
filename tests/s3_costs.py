"""`python -m tests.s3_costs GROUPS QUEUES`: what a lake in S3 costs, in requests and in time, beside one in a folder.

Runs of the pipeline over a generated site, as `tests.bench.pipeline.pipeline_runs` makes them; then a poll and an hour
of polls that is compacted. The local server answers at once, and again after as long as a store elsewhere takes."""

import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

import pyarrow as pa

from consumers.lake.retention import compact, expire
from consumers.lake.schemas import TABLES
from consumers.lake.store import Lake, file_name, hour_folder
from dashboard.demo.children import kill_child
from tests.pipeline_rows import at, rows
from tests.plugins.s3_server import S3Server

DELAYS_SECONDS = (0.0, 0.03)
# What a poll of a cluster with members writes; offset files and dead letters where there are some.
OF_A_POLL = ("readings", "membership", "ownership", "member_rates")
POLLS = 240


def main(groups: str, queues: str) -> None:
    with tempfile.TemporaryDirectory(prefix="consumerscope-costs-") as folder:
        server = S3Server(Path(folder))
        try:
            server.wait()
            _say("runs, folder", _runs(folder, f"{folder}/lake", groups, queues))
            for delay in DELAYS_SECONDS:
                server.delay(delay)
                server.requests()
                found = _runs(folder, server.location(f"runs-{delay}"), groups, queues)
                _say(f"runs, S3, {1000 * delay:g} ms a request", found, server.requests())
            for name, location in (("folder", f"{folder}/hour"), ("S3", server.location("hour"))):
                _hour(name, Lake.at(location), server)
        finally:
            kill_child(server.child)


def _say(what: str, found: object, requests: dict[str, int] | None = None) -> None:
    print(json.dumps({what: found, **({"requests": requests} if requests else {})}), flush=True)


def _runs(folder: str, location: str, groups: str, queues: str) -> object:
    with tempfile.TemporaryDirectory(dir=folder) as home:
        environ = {**os.environ, "CONSUMERSCOPE_HOME": home, "CONSUMERSCOPE_LAKE": location, "SPARK_MASTER": "local[1]"}
        command = [sys.executable, "-m", "tests.bench.pipeline.pipeline_runs", groups, queues]
        done = subprocess.run(command, env=environ, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _hour(name: str, lake: Lake, server: S3Server) -> None:
    server.requests()
    for number in range(POLLS):
        _poll(lake, number)
        if number == 0:
            _say(f"a poll, {name}", None, server.requests())
    for what, work in (
        ("compaction of an hour of polls", lambda: compact(lake, at(7200), timedelta(0))),
        ("a look of upkeep that finds nothing to do", lambda: compact(lake, at(7200), timedelta(0))),
        ("its retention", lambda: expire(lake, at(3 * 86400), dict.fromkeys(OF_A_POLL, timedelta(hours=1)))),
    ):
        server.requests()
        began = time.monotonic()
        work()
        _say(f"{what}, {name}", {"seconds": round(time.monotonic() - began, 2)}, server.requests())


def _poll(lake: Lake, number: int) -> None:
    moment = at(15 * number)
    for table in OF_A_POLL:
        row = rows([(number, number)], start=15 * number)[0]
        schema = TABLES[table]
        found = pa.Table.from_pylist([{one: row.get(one) for one in schema.names}], schema)
        lake.write(found, f"{hour_folder(table, 'prod', moment)}/{file_name(moment)}", schema)


if __name__ == "__main__":
    main(*sys.argv[1:])
