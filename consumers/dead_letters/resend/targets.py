"""Where a dead letter goes: a queue that takes messages and that is read, on its own broker if there is one."""

import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from consumers.models import ResendItem
from consumers.rocketmq.messages.message_values import StoredMessage
from consumers.rocketmq.name_server import QueueRoute, Route

READ, WRITE = 4, 2
# Messages that belong together keep to one queue, as far as their producer named what joins them.
JOINING = ("__SHARDINGKEY", "KEYS", "UNIQ_KEY")


class NoTarget(Exception):
    """str() is one sentence."""


@dataclass(frozen=True)
class Target:
    topic: str
    broker: str
    queue_id: int


def target_of(letter: StoredMessage, at_broker: str, route: Route, masters: Collection[str]) -> Target:
    """Raises NoTarget.

    A dead letter does not say which queue of its topic it came from, so the queue is chosen by its key.
    """
    open_to_all = sorted((queue for queue in route.queues if _queues(queue)), key=lambda queue: queue.broker)
    candidates = [queue for queue in open_to_all if queue.broker in masters]
    if not candidates:
        raise NoTarget(f"no broker both takes and gives messages of {route.topic}: see its permissions")
    chosen = next((queue for queue in candidates if queue.broker == at_broker), candidates[0])
    return Target(route.topic, chosen.broker, _hash(letter) % _queues(chosen))


def by_target(items: Iterable[ResendItem]) -> dict[Target, list[ResendItem]]:
    """Of items that were aimed."""
    queues: dict[Target, list[ResendItem]] = {}
    for item in items:
        if item.target_topic is None or item.target_broker is None or item.target_queue_id is None:
            raise ValueError(f"item {item.pk} was never aimed at a queue")
        queues.setdefault(Target(item.target_topic, item.target_broker, item.target_queue_id), []).append(item)
    return queues


def _queues(queue: QueueRoute) -> int:
    """Those that are both written and read."""
    return min(queue.read_queues, queue.write_queues) if queue.perm & READ and queue.perm & WRITE else 0


def _hash(letter: StoredMessage) -> int:
    joined = (letter.properties.get(name) for name in JOINING)
    return zlib.crc32(next((text for text in joined if text), letter.stored_id).encode())
