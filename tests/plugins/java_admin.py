"""RocketMQ's own client and admin classes, in a child process, for tests to call."""

import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from dashboard.demo.children import kill_child, start_child
from dashboard.demo.cluster import RocketMQ

PROJECT = Path(__file__).resolve().parents[2]
ANSWER_SECONDS = 120.0


class JavaCallFailed(Exception):
    """RocketMQ's own class refused, or the child died."""


class JavaAdmin:
    """Each call returns once RocketMQ's own code has answered. `with JavaAdmin(cluster, jars, name)` makes another one,

    which a test may kill with everything that it consumes.
    """

    def __init__(self, cluster: RocketMQ, jars: Path, name: str = "java-admin") -> None:
        self.folder = cluster.home / name
        addresses = {broker: place.address for broker, place in cluster.brokers.items()}
        arguments = [cluster.namesrv, json.dumps(addresses), str(jars), str(self.folder)]
        script = Path(__file__).with_name("java_child.py")
        self._console = self.folder / "console.log"
        environ = {**os.environ, "PYTHONPATH": str(PROJECT)}
        self._child = start_child([sys.executable, script, *arguments], log=self._console, environ=environ, piped=True)
        self._answer()

    def __enter__(self) -> "JavaAdmin":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """SIGKILL: its members neither commit nor say goodbye."""
        kill_child(self._child)

    def create_topic(self, name: str, queues: int, broker: str | None = None) -> None:
        self._call("create_topic", name=name, queues=queues, broker=broker)

    def create_group(
        self, name: str, *, orderly: bool = False, retry_max_times: int = 16, broker: str | None = None
    ) -> None:
        self._call("create_group", name=name, orderly=orderly, retry_max_times=retry_max_times, broker=broker)

    def set_offset(self, group: str, topic: str, broker: str, queue_id: int, offset: int) -> None:
        self._call("set_offset", group=group, topic=topic, broker=broker, queue_id=queue_id, offset=offset)

    def let_pop(self, group: str, topic: str) -> None:
        self._call("let_pop", group=group, topic=topic)

    def send(
        self, topic: str, broker: str, queue_id: int, count: int = 1, *, size: int = 20, tags: str = ""
    ) -> list[int]:
        """Sends `count` messages of `size` bytes to one queue; returns their queue offsets."""
        return self._call("send", topic=topic, broker=broker, queue_id=queue_id, count=count, size=size, tags=tags)

    def ask(self, broker: str, code: int) -> str:
        """The body that RocketMQ's own remoting client is given for a request without fields."""
        return str(self._call("ask", broker=broker, code=code))

    def start_consumer(self, group: str, topic: str, instance: str, *, consume: str = "all", **more: Any) -> None:
        """A push consumer with client id `127.0.0.1@instance`; `more` are further fields of Membership.

        `consume`: "all" succeeds, "none" fails every message, "held" never ends: let `with JavaAdmin(…)` kill it.
        """
        self._call("start_consumer", consume=consume, group=group, topic=topic, instance=instance, **more)

    def stop_consumer(self, instance: str) -> None:
        self._call("stop_consumer", instance=instance)

    def allocate(
        self, strategy: str, queues: list[tuple[str, str, int]], clients: list[str], client: str
    ) -> list[tuple[str, str, int]]:
        """The queues that the named class of RocketMQ's rebalance package gives `client`."""
        given = self._call("allocate", strategy=strategy, queues=queues, clients=clients, client=client)
        return [(topic, broker, queue_id) for topic, broker, queue_id in given]

    def allocate_many(self, cases: list[dict[str, Any]]) -> list[list[str]]:
        """By case, what RocketMQ's own strategy class gives each client, as Java prints it: see java_allocation."""
        return list(self._call("allocate_many", cases=cases))

    def _call(self, call: str, **arguments: Any) -> Any:
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
            raise JavaCallFailed(f"The Java child died or was silent: see {self._console}.")
        answer = json.loads(line)
        if "error" in answer:
            raise JavaCallFailed(answer["error"])
        return answer["result"]
