"""RocketMQ's strategies: a way each to share sorted queues among sorted client ids (5.4.0)."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import ClassVar, NamedTuple, Protocol


class QueueKey(NamedTuple):
    """Which queue: the one key of everything that is shared out."""

    topic: str
    broker: str
    queue_id: int


Shares = dict[str, tuple[QueueKey, ...]]


class Strategy(Protocol):
    @property
    def name(self) -> str:
        """What getName() of RocketMQ's class says, and the clients' logs."""

    def shares(self, queues: Sequence[QueueKey], client_ids: Sequence[str]) -> Shares:
        """By client id, each once; both lists are sorted as Java sorts and not empty.

        An id that stands in the list twice is two processes: each computes the same share, by the first of the places.
        """


def first_places(client_ids: Sequence[str]) -> dict[str, int]:
    """Where each id stands first (List.indexOf)."""
    places: dict[str, int] = {}
    for place, client_id in enumerate(client_ids):
        places.setdefault(client_id, place)
    return places


# The order in which clients sort before they share: String.compareTo, which compares UTF-16 code units.
#
# Characters beyond U+FFFF are pairs of units from D800 to DFFF there, so they sort before U+E000 to U+FFFF.
def java_order(text: str) -> bytes:
    """A key for sorting texts as Java does."""
    return text.encode("utf-16-be", "surrogatepass")


def queue_order(queue: QueueKey) -> tuple[bytes, bytes, int]:
    """MessageQueue.compareTo (5.4.0): topic, broker name, queue id."""
    return java_order(queue.topic), java_order(queue.broker), queue.queue_id


@dataclass(frozen=True)
class Averagely:
    """AVG: neighbouring queues to each client, the first clients one more (AllocateMessageQueueAveragely, 5.4.0)."""

    name: ClassVar[str] = "AVG"

    def shares(self, queues: Sequence[QueueKey], client_ids: Sequence[str]) -> Shares:
        size, larger = divmod(len(queues), len(client_ids))
        return {
            client_id: tuple(queues[place * size + min(place, larger) : (place + 1) * size + min(place + 1, larger)])
            for client_id, place in first_places(client_ids).items()
        }


@dataclass(frozen=True)
class AveragelyByCircle:
    """AVG_BY_CIRCLE: the queues are dealt out like cards (AllocateMessageQueueAveragelyByCircle, 5.4.0)."""

    name: ClassVar[str] = "AVG_BY_CIRCLE"

    def shares(self, queues: Sequence[QueueKey], client_ids: Sequence[str]) -> Shares:
        step = len(client_ids)
        return {client_id: tuple(queues[place::step]) for client_id, place in first_places(client_ids).items()}


# CONSISTENT_HASH: each queue goes to the next client on a ring of hashes.
#
# AllocateMessageQueueConsistentHash and ConsistentHashRouter (5.4.0): a client stands on the ring once for each of
# its virtual nodes; a node that hashes to a taken place takes it over.
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
    """A client id that is listed twice gets further nodes: two processes with one id are on the ring twice as often."""
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


# The strategy behind the class that a client names in its running info (307).
#
# MixAll.object2Properties (5.4.0) prints the strategy with toString, which for RocketMQ's own classes is the class
# and a hash: whatever was set on the object is not told.
CONSISTENT_HASH = "AllocateMessageQueueConsistentHash"

MACHINE_ROOM = "AllocateMessageQueueByMachineRoom"

_BY_CLASS_NAME: dict[str, Callable[[], Strategy]] = {
    "AllocateMessageQueueAveragely": Averagely,
    "AllocateMessageQueueAveragelyByCircle": AveragelyByCircle,
    CONSISTENT_HASH: ConsistentHash,
}

_NOT_SIMULABLE = {
    "AllocateMessageQueueByConfig": "the queues are set on each client (CONFIG), and it does not tell which",
    MACHINE_ROOM: "the machine rooms are set on each client (MACHINE_ROOM), and it does not tell which",
    "AllocateMachineRoomNearby": "the machine rooms and the strategy within them are set on each client "
    "(MACHINE_ROOM_NEARBY), and it does not tell which",
}


@dataclass(frozen=True)
class NotSimulable:
    """Why what the clients compute cannot be computed from outside."""

    reason: str


def named_strategy(class_name: str) -> Strategy | NotSimulable:
    """`class_name` is the simple name of a class of RocketMQ's own, else whatever the client names.

    A ring (CONSISTENT_HASH) is the default one: other virtual nodes or another hash are not told, so compare it with
    what the clients hold before anything is concluded from it.
    """
    if class_name in _BY_CLASS_NAME:
        return _BY_CLASS_NAME[class_name]()
    return NotSimulable(_NOT_SIMULABLE.get(class_name, f"{class_name} is not a strategy of RocketMQ's own"))


# The shares of one topic's queues, as RebalanceImpl.rebalanceByTopic (5.4.0) arrives at them in every client.


class NothingToShare(ValueError):
    """No queues, no clients, or a client without an id: the clients' rebalance fails, and they keep what they hold."""


def allocate(strategy: Strategy, queues: Iterable[QueueKey], client_ids: Iterable[str]) -> Shares:
    """By client id what each owns; `client_ids` holds an id once for each process that bears it, `queues` each once.

    Raises NothingToShare where AbstractAllocateMessageQueueStrategy.check throws.
    """
    all_queues, all_clients = sorted(queues, key=queue_order), sorted(client_ids, key=java_order)
    if not all_queues:
        raise NothingToShare("There are no queues to share.")
    if not all_clients:
        raise NothingToShare("There are no clients to share the queues among.")
    if not all_clients[0]:
        raise NothingToShare("A client has an empty id.")
    return strategy.shares(all_queues, all_clients)


def broadcast(queues: Iterable[QueueKey], client_ids: Iterable[str]) -> Shares:
    """Broadcasting: every client owns every queue, whatever its strategy."""
    everything = tuple(sorted(queues, key=queue_order))
    return dict.fromkeys(client_ids, everything)


def owners(shares: Shares, client_ids: Iterable[str]) -> dict[QueueKey, tuple[str, ...]]:
    """By queue its owners, sorted; an id once for each process that bears it. A queue of nobody is not in it."""
    found: dict[QueueKey, list[str]] = {}
    for client_id in sorted(client_ids, key=java_order):
        for queue in shares.get(client_id, ()):
            found.setdefault(queue, []).append(client_id)
    return {queue: tuple(ids) for queue, ids in found.items()}
