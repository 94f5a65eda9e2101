"""Processes with real members of many groups, to be scaled, stopped and killed by a test."""

from pathlib import Path
from typing import Any

from dashboard.demo.cluster import RocketMQ
from tests.plugins.calling import CalledChild

Queue = tuple[str, str, int]  # topic, broker, queue id
Holding = dict[tuple[str, str], frozenset[Queue]]  # by group and client id


class FleetProcess:
    """`with` kills it, with all members in it."""

    def __init__(self, cluster: RocketMQ, jars: Path, name: str) -> None:
        folder = cluster.home / name
        self._child = CalledChild("fleet_child.py", [cluster.namesrv, jars, folder], folder)

    def __enter__(self) -> "FleetProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """SIGKILL: its members neither commit nor say goodbye."""
        self._child.kill()

    def start(self, *members: dict[str, Any]) -> None:
        self._child.call("start", members=members)

    def stop(self, group: str, *instances: str) -> None:
        self._child.call("stop", members=[(group, instance) for instance in instances])

    def restart(self, member: dict[str, Any]) -> None:
        self._child.call("restart", member=member)

    def held(self) -> Holding:
        if not self._child.is_running:
            return {}
        return {
            (group, f"127.0.0.1@{instance}"): frozenset(map(tuple, queues))
            for group, instance, queues in self._child.call("held")
        }
