"""What every strategy is: a way to share sorted queues among sorted client ids."""

from collections.abc import Sequence
from typing import Protocol

from .queue_key import QueueKey

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
