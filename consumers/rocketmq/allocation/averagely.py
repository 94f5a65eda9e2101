"""AVG: neighbouring queues to each client, the first clients one more (AllocateMessageQueueAveragely, 5.4.0)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .queue_key import QueueKey
from .strategy import Shares, first_places


@dataclass(frozen=True)
class Averagely:
    name: ClassVar[str] = "AVG"

    def shares(self, queues: Sequence[QueueKey], client_ids: Sequence[str]) -> Shares:
        size, larger = divmod(len(queues), len(client_ids))
        return {
            client_id: tuple(queues[place * size + min(place, larger) : (place + 1) * size + min(place + 1, larger)])
            for client_id, place in first_places(client_ids).items()
        }
