"""MACHINE_ROOM: only the queues of brokers called `room@name` in given rooms; the others go to nobody.

AllocateMessageQueueByMachineRoom (5.4.0): equal parts in order, what is left over one by one to the first clients.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .queue_key import QueueKey
from .strategy import Shares, first_places


@dataclass(frozen=True)
class ByMachineRoom:
    """`rooms` are set on the client (consumeridcs)."""

    rooms: frozenset[str]
    name: ClassVar[str] = "MACHINE_ROOM"

    def shares(self, queues: Sequence[QueueKey], client_ids: Sequence[str]) -> Shares:
        ours = [queue for queue in queues if room_of(queue.broker) in self.rooms]
        size = len(ours) // len(client_ids)
        left = ours[size * len(client_ids) :]
        return {
            client_id: (*ours[place * size : (place + 1) * size], *left[place : place + 1])
            for client_id, place in first_places(client_ids).items()
        }


def room_of(broker: str) -> str | None:
    """The room in a broker's name; None where it does not have exactly two parts. Java's split drops empty ends."""
    parts = broker.split("@")
    while parts and not parts[-1]:
        parts.pop()
    return parts[0] if len(parts) == 2 else None
