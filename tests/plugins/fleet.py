"""Processes with real members of many groups, to be scaled, stopped and killed by a test."""

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from dashboard.demo.children import kill_child, start_child
from dashboard.demo.cluster import RocketMQ
from tests.plugins.java_admin import PROJECT

ANSWER_SECONDS = 120.0

Queue = tuple[str, str, int]  # topic, broker, queue id
Holding = dict[tuple[str, str], frozenset[Queue]]  # by group and client id


class FleetProcess:
    """`with` kills it, with all members in it."""

    def __init__(self, cluster: RocketMQ, jars: Path, name: str) -> None:
        self._console = cluster.home / name / "console.log"
        script = Path(__file__).with_name("fleet_child.py")
        program = [sys.executable, script, cluster.namesrv, jars, cluster.home / name]
        environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
        self._child = start_child(program, log=self._console, environ=environ, piped=True)
        self._is_ready = False

    def __enter__(self) -> "FleetProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """SIGKILL: its members neither commit nor say goodbye."""
        kill_child(self._child)

    def start(self, *members: dict[str, Any]) -> None:
        self._call("start", members=members)

    def stop(self, group: str, *instances: str) -> None:
        self._call("stop", members=[(group, instance) for instance in instances])

    def restart(self, member: dict[str, Any]) -> None:
        self._call("restart", member=member)

    def held(self) -> Holding:
        if self._child.poll() is not None:
            return {}
        return {
            (group, f"127.0.0.1@{instance}"): frozenset(map(tuple, queues))
            for group, instance, queues in self._call("held")
        }

    def _call(self, call: str, **arguments: Any) -> Any:
        if not self._is_ready:
            self._answer()
            self._is_ready = True
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps({"call": call, "arguments": arguments}).encode() + b"\n")
        self._child.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        assert self._child.stdout is not None
        # A Java call that never returns must fail one test, not hang the run.
        watch = threading.Timer(ANSWER_SECONDS, self._child.kill)
        watch.start()
        line = self._child.stdout.readline()
        watch.cancel()
        if not line:
            raise RuntimeError(f"The fleet's process died or was silent: see {self._console}.")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]
