"""RocketMQ's own client and admin classes, in a child process, for tests to call."""

import json
from pathlib import Path
from typing import Any

from dashboard.demo.cluster import RocketMQ
from tests.plugins.calling import CalledChild


class JavaAdmin:
    """Each call returns once RocketMQ's own code has answered. `with JavaAdmin(cluster, jars, name)` makes another one,

    which a test may kill with everything that it consumes.
    """

    def __init__(self, cluster: RocketMQ, jars: Path, name: str = "java-admin") -> None:
        self.folder = cluster.home / name
        addresses = {broker: place.address for broker, place in cluster.brokers.items()}
        arguments = [cluster.namesrv, json.dumps(addresses), str(jars), str(self.folder)]
        self._child = CalledChild("java_child.py", arguments, self.folder)
        self._child.wait_ready()

    def __enter__(self) -> "JavaAdmin":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> None:
        """SIGKILL: its members neither commit nor say goodbye."""
        self._child.kill()

    def create_topic(self, name: str, queues: int, broker: str | None = None) -> None:
        self._child.call("create_topic", name=name, queues=queues, broker=broker)

    def create_group(
        self, name: str, *, orderly: bool = False, retry_max_times: int = 16, broker: str | None = None
    ) -> None:
        self._child.call("create_group", name=name, orderly=orderly, retry_max_times=retry_max_times, broker=broker)

    def set_offset(self, group: str, topic: str, broker: str, queue_id: int, offset: int) -> None:
        self._child.call("set_offset", group=group, topic=topic, broker=broker, queue_id=queue_id, offset=offset)

    def reset_by_time(self, group: str, topic: str, milliseconds: int) -> None:
        """What `mqadmin resetOffsetByTime` does."""
        self._child.call("reset_by_time", group=group, topic=topic, milliseconds=milliseconds)

    def statistic(self, broker: str, name: str, key: str) -> tuple[int, float]:
        """What RocketMQ's own admin client is given of a broker's last minute: the sum, and the rate a second."""
        total, per_second = self._child.call("statistic", broker=broker, name=name, key=key)
        return total, per_second

    def consume_status(self, group: str, client_id: str, topic: str) -> dict[str, float]:
        """What RocketMQ's own admin client is given of a member's last minute, by the names of its ConsumeStatus."""
        return dict(self._child.call("consume_status", group=group, client_id=client_id, topic=topic))

    def let_pop(self, group: str, topic: str) -> None:
        self._child.call("let_pop", group=group, topic=topic)

    def send(
        self,
        topic: str,
        broker: str,
        queue_id: int,
        count: int = 1,
        *,
        size: int = 20,
        tags: str = "",
        awaited: bool = True,
    ) -> list[int]:
        """Sends `count` messages of `size` bytes to one queue; returns their queue offsets. `awaited`: once they can be
        consumed."""
        sent = {"topic": topic, "broker": broker, "queue_id": queue_id, "count": count, "size": size, "tags": tags}
        return self._child.call("send", **sent, awaited=awaited)

    def ask(self, broker: str, code: int) -> str:
        """The body that RocketMQ's own remoting client is given for a request without fields."""
        return str(self._child.call("ask", broker=broker, code=code))

    def queue_end(self, topic: str, broker: str, queue_id: int) -> int:
        """The offset that the next message of the queue will have, as the broker tells RocketMQ's own client."""
        return int(self._child.call("queue_end", topic=topic, broker=broker, queue_id=queue_id))

    def stored_messages(self, topic: str, broker: str, queue_id: int, offset: int) -> list[dict[str, Any]]:
        """Up to 32 messages from the offset on, as RocketMQ's own decoder reads them."""
        return self._child.call("stored_messages", topic=topic, broker=broker, queue_id=queue_id, offset=offset)

    def start_consumer(self, group: str, topic: str, instance: str, *, consume: str = "all", **more: Any) -> None:
        """A push consumer with client id `127.0.0.1@instance`; `more` are further fields of Membership.

        `consume`: "all" succeeds, "none" fails every message, "held" never ends: let `with JavaAdmin(…)` kill it.
        """
        self._child.call("start_consumer", consume=consume, group=group, topic=topic, instance=instance, **more)

    def stop_consumer(self, instance: str) -> None:
        self._child.call("stop_consumer", instance=instance)

    def allocate(
        self, strategy: str, queues: list[tuple[str, str, int]], clients: list[str], client: str
    ) -> list[tuple[str, str, int]]:
        """The queues that the named class of RocketMQ's rebalance package gives `client`."""
        given = self._child.call("allocate", strategy=strategy, queues=queues, clients=clients, client=client)
        return [(topic, broker, queue_id) for topic, broker, queue_id in given]

    def allocate_many(self, cases: list[dict[str, Any]]) -> list[list[str]]:
        """By case, what RocketMQ's own strategy class gives each client, as Java prints it: see java_allocation."""
        return list(self._child.call("allocate_many", cases=cases))

    def compressed(self, kind: str, body: bytes) -> bytes:
        """What RocketMQ's own compressor makes of a body: LZ4, ZSTD or ZLIB."""
        return bytes.fromhex(self._child.call("compressed", kind=kind, body=body.hex()))
