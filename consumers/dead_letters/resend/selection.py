"""Which dead letters a plan is of: some that are named, or all that filters choose."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from consumers.models import ConsumerGroup, DeadLetter
from consumers.selectors.dead_letters.filter_query import words_of
from consumers.selectors.dead_letters.filters import DeadLetterFilters

Place = tuple[str, int, int]

OLDEST_FIRST = ("stored_at", "broker", "queue_id", "offset")


@dataclass(frozen=True)
class Selection:
    """Exactly one of the two. `messages`: broker, queue id, offset of each; none of them is no message, never all."""

    messages: Sequence[Place] | None = None
    filters: DeadLetterFilters | None = None

    def __post_init__(self) -> None:
        if (self.messages is None) == (self.filters is None):
            raise ValueError("A selection is of named messages or of filters: give exactly one of them.")

    def stored(self) -> dict[str, Any]:
        if self.filters is not None:
            return {"filter": words_of(self.filters)}
        return {"messages": [list(place) for place in self.messages or ()]}

    def letters(self, group: ConsumerGroup, most: int) -> list[DeadLetter]:
        """The oldest first; of filters no more than `most` + 1."""
        if self.filters is not None:
            return list(self.filters.letters_of(group).order_by(*OLDEST_FIRST)[: most + 1])
        queues: dict[tuple[str, int], list[int]] = {}
        for broker, queue_id, offset in dict.fromkeys(self.messages or ()):
            queues.setdefault((broker, queue_id), []).append(offset)
        letters = (letter for queue, offsets in queues.items() for letter in _of_queue(group, queue, offsets))
        return sorted(letters, key=lambda letter: tuple(getattr(letter, name) for name in OLDEST_FIRST))

    def missing(self, letters: Iterable[DeadLetter]) -> list[Place]:
        """Those named that no row is of."""
        there = {(letter.broker, letter.queue_id, letter.offset) for letter in letters}
        return [place for place in self.messages or () if place not in there]


# SQLite takes some 32,000 values in one statement.
AT_ONCE = 10_000


def _of_queue(group: ConsumerGroup, queue: tuple[str, int], offsets: list[int]) -> Iterable[DeadLetter]:
    broker, queue_id = queue
    for start in range(0, len(offsets), AT_ONCE):
        there = Q(broker=broker, queue_id=queue_id, offset__in=offsets[start : start + AT_ONCE])
        yield from DeadLetter.objects.filter(there, group=group)
