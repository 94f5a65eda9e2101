"""AVG_BY_CIRCLE: the queues are dealt out like cards (AllocateMessageQueueAveragelyByCircle, 5.4.0)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .queue_key import QueueKey
from .strategy import Shares, first_places


@dataclass(frozen=True)
class AveragelyByCircle:
    name: ClassVar[str] = "AVG_BY_CIRCLE"

    def shares(self, queues: Sequence[QueueKey], client_ids: Sequence[str]) -> Shares:
        step = len(client_ids)
        return {client_id: tuple(queues[place::step]) for client_id, place in first_places(client_ids).items()}
