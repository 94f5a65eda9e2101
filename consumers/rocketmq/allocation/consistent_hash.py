"""CONSISTENT_HASH: each queue goes to the next client on a ring of hashes.

AllocateMessageQueueConsistentHash and ConsistentHashRouter (5.4.0): a client stands on the ring once for each of its
virtual nodes; a node that hashes to a taken place takes it over.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import ClassVar

from .queue_key import QueueKey
from .strategy import Shares, first_places

DEFAULT_VIRTUAL_NODES = 10


@dataclass(frozen=True)
class ConsistentHash:
    """`virtual_nodes` are set when the client constructs it."""

    virtual_nodes: int = DEFAULT_VIRTUAL_NODES
    name: ClassVar[str] = "CONSISTENT_HASH"

    def __post_init__(self) -> None:
        if self.virtual_nodes < 0:
            raise ValueError(f"A client cannot stand on the ring {self.virtual_nodes} times: give 0 or more.")

    def shares(self, queues: Sequence[QueueKey], client_ids: Sequence[str]) -> Shares:
        ring = _ring(client_ids, self.virtual_nodes)
        shares: dict[str, list[QueueKey]] = {client_id: [] for client_id in first_places(client_ids)}
        places = sorted(ring)
        for queue in queues if places else ():
            at = bisect_left(places, _place(_printed(queue)))
            shares[ring[places[at % len(places)]]].append(queue)
        return {client_id: tuple(share) for client_id, share in shares.items()}


def _ring(client_ids: Sequence[str], virtual_nodes: int) -> dict[int, str]:
    """An id that comes again counts on from the nodes it has: two processes stand there twice as often."""
    ring: dict[int, str] = {}
    nodes: Counter[str] = Counter()
    for client_id in client_ids:
        first = nodes[client_id]
        for number in range(first, first + virtual_nodes):
            place = _place(f"{client_id}-{number}")
            if place in ring:
                nodes[ring[place]] -= 1
            ring[place] = client_id
            nodes[client_id] += 1
    return ring


def _place(key: str) -> int:
    """The first four bytes of the key's MD5. Java's getBytes writes `?` for half a surrogate pair."""
    return int.from_bytes(md5(key.encode("utf-8", "replace"), usedforsecurity=False).digest()[:4], "big")


def _printed(queue: QueueKey) -> str:
    """MessageQueue.toString, which is what is hashed."""
    return f"MessageQueue [topic={queue.topic}, brokerName={queue.broker}, queueId={queue.queue_id}]"
