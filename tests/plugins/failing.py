"""A process with real members whose handlers fail as a test says, and what they counted: the truth of a script."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dashboard.demo.cluster import RocketMQ
from tests.plugins.calling import CalledChild

ALWAYS = 1_000_000


@dataclass(frozen=True)
class Truth:
    """By reconsume times: how often a handler was called, and how often it failed."""

    delivered: dict[int, int]
    failed: dict[int, int]

    @property
    def first(self) -> int:
        return self.delivered.get(0, 0)

    @property
    def redelivered(self) -> int:
        return sum(count for times, count in self.delivered.items() if times > 0)

    def waiting(self, longest: int) -> dict[int, int]:
        """By the number of the retry that they wait for; `longest` is the number of retries before a dead letter."""
        waits = {times + 1: failed - self.delivered.get(times + 1, 0) for times, failed in self.failed.items()}
        return {retry: count for retry, count in waits.items() if count and retry <= longest}

    def dead(self, longest: int) -> int:
        return self.failed.get(longest, 0)


@dataclass(frozen=True)
class WrittenDelivery:
    """What a handler wrote down as it was called."""

    keys: str
    reconsume_times: int
    at: datetime


class FailingProcess:
    """`with` kills it, with all members in it."""

    def __init__(self, cluster: RocketMQ, jars: Path, name: str) -> None:
        folder = cluster.home / name
        self._child = CalledChild("failing_child.py", [cluster.namesrv, jars, folder], folder)

    def __enter__(self) -> "FailingProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()

    def start(
        self, group: str, topic: str, fails: list[tuple[int, int, int]], *, holds: Sequence[int] = (), **more: Any
    ) -> None:
        """Of `fails`, (every, remainder, attempts): a message whose keys end in such a number fails so often. One whose
        keys end in a number of `holds` is not finished before the member stops."""
        member = {"group": group, "topic": topic, "instance": f"{group}-1", **more}
        self._child.call("start", member=member, fails=fails, holds=list(holds))

    def stop(self, group: str) -> None:
        self._child.call("stop", instance=f"{group}-1")

    def truth(self, group: str) -> Truth:
        lines = self._child.call("counts", group=group)
        return Truth({times: calls for times, calls, _ in lines}, {times: failed for times, _, failed in lines})

    def deliveries(self, group: str) -> list[WrittenDelivery]:
        """In the order in which handlers were called."""
        lines = self._child.call("deliveries", group=group)
        return [WrittenDelivery(keys, times, datetime.fromtimestamp(at, UTC)) for keys, times, at in lines]
