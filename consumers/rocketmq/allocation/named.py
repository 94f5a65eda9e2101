"""The strategy behind the class that a client names in its running info (307).

MixAll.object2Properties (5.4.0) prints the strategy with toString, which for RocketMQ's own classes is the class and a
hash: whatever was set on the object is not told.
"""

from collections.abc import Callable
from dataclasses import dataclass

from .averagely import Averagely
from .averagely_by_circle import AveragelyByCircle
from .consistent_hash import ConsistentHash
from .strategy import Strategy

CONSISTENT_HASH = "AllocateMessageQueueConsistentHash"
MACHINE_ROOM = "AllocateMessageQueueByMachineRoom"

_TOLD: dict[str, Callable[[], Strategy]] = {
    "AllocateMessageQueueAveragely": Averagely,
    "AllocateMessageQueueAveragelyByCircle": AveragelyByCircle,
    CONSISTENT_HASH: ConsistentHash,
}
_UNTOLD = {
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
    if class_name in _TOLD:
        return _TOLD[class_name]()
    return NotSimulable(_UNTOLD.get(class_name, f"{class_name} is not a strategy of RocketMQ's own"))
