"""MACHINE_ROOM_NEARBY: queues of a room with clients stay in it, those of other rooms are shared by all.

AllocateMachineRoomNearby (5.4.0) asks a resolver for the rooms and another strategy to share within them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .java_order import java_order
from .queue_key import QueueKey
from .strategy import Shares, Strategy, first_places


class NoRoom(ValueError):
    """The resolver knows no room of a queue or a client: the client's rebalance fails and it keeps what it holds."""


@dataclass(frozen=True)
class MachineRoomNearby:
    room_of_queue: Callable[[QueueKey], str | None]
    room_of_client: Callable[[str], str | None]
    inner: Strategy

    @property
    def name(self) -> str:
        return f"MACHINE_ROOM_NEARBY-{self.inner.name}"

    def shares(self, queues: Sequence[QueueKey], client_ids: Sequence[str]) -> Shares:
        """Raises NoRoom where the resolver knows none."""
        rooms: dict[str, list[QueueKey]] = {}
        for queue in queues:
            rooms.setdefault(_known(self.room_of_queue(queue), f"queue {queue}"), []).append(queue)
        near: dict[str, list[str]] = {}
        for client_id in client_ids:
            near.setdefault(_known(self.room_of_client(client_id), f"client {client_id}"), []).append(client_id)
        return self._joined(rooms, near, client_ids)

    def _joined(
        self, rooms: dict[str, list[QueueKey]], near: dict[str, list[str]], client_ids: Sequence[str]
    ) -> Shares:
        """What is of a client's own room stands first in its share, then the rooms without a client by name."""
        joined: dict[str, list[QueueKey]] = {client_id: [] for client_id in first_places(client_ids)}
        for inhabited in (True, False):
            for room in sorted(rooms, key=java_order):
                if (room in near) is inhabited:
                    among = near[room] if inhabited else client_ids
                    for client_id, share in self.inner.shares(rooms[room], among).items():
                        joined[client_id].extend(share)
        return {client_id: tuple(share) for client_id, share in joined.items()}


def _known(room: str | None, whose: str) -> str:
    if not room:
        raise NoRoom(f"The machine room of {whose} is not known: its resolver must name one.")
    return room
