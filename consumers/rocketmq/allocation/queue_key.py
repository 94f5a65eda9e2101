"""Which queue: the one key of everything that is shared out."""

from typing import NamedTuple


class QueueKey(NamedTuple):
    topic: str
    broker: str
    queue_id: int
