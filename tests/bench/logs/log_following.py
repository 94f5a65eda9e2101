"""How fast a client's log is followed into the database, beside counting the newlines of the same file."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench.logs.log_body import write_log
from tests.bench.result import Result

MIB = 1024 * 1024
BLOCK = 4 * MIB


def run(size: int = 256 * MIB) -> list[Result]:
    with tempfile.TemporaryDirectory() as home:
        log = Path(home) / "rocketmq_client.log"
        write_log(log, size)
        megabytes = log.stat().st_size / 1e6
        floor = _count_newlines(log)
        took = follow(log, Path(home))
    note = (
        f"{megabytes / took['seconds']:,.0f} MB/s of CPU time, {took['lines']:,} lines, {took['events']:,} events, "
        f"{took['unknown_lines']} unknown; {took['peak'] / MIB:,.0f} MiB at most, {took['before'] / MIB:,.0f} before"
    )
    ours = took["seconds"]
    return [Result("a client's log, followed", ours, "s", "counting its newlines", floor, floor / ours, note)]


def follow(log: Path, home: Path) -> dict[str, Any]:
    """In a process of its own, which tells its memory."""
    environ = {**os.environ, "CONSUMERSCOPE_HOME": str(home), "DATABASE_URL": f"sqlite:///{home}/bench.sqlite3"}
    command = [sys.executable, "-m", "tests.bench.logs.follow_run", str(log)]
    answer = subprocess.run(command, env=environ, check=True, capture_output=True, text=True)
    told: dict[str, Any] = json.loads(answer.stdout.splitlines()[-1])
    return told


def _count_newlines(log: Path) -> float:
    began = time.process_time()
    lines = 0
    with log.open("rb", buffering=0) as file:
        while block := file.read(BLOCK):
            lines += block.count(b"\n")
    assert lines
    return time.process_time() - began
