"""What is known of the queues of one group's dead letters, in a broker and in rows."""

from dataclasses import dataclass

# Broker name and queue id.
Place = tuple[str, int]


@dataclass(frozen=True)
class Ends:
    """Of a queue, as its broker says; messages lie in [min_offset, broker_offset)."""

    min_offset: int
    broker_offset: int


@dataclass(frozen=True)
class Indexed:
    """[since, until) of a queue has rows. `last_stored_id` is the stored id at until - 1, null where none is."""

    since: int
    until: int
    last_stored_id: str | None = None


class Calls:
    """How many calls are left to a run. Those of one turn are counted off the whole."""

    def __init__(self, left: int, whole: "Calls | None" = None) -> None:
        self.left = left
        self._whole = whole

    def turn(self, most: int) -> "Calls":
        return Calls(min(most, self.left), self)

    def take(self) -> bool:
        """Whether one more may be made; it is counted then."""
        if self.left <= 0 or (self._whole is not None and not self._whole.take()):
            return False
        self.left -= 1
        return True


def kept_from(ends: dict[Place, Ends], most: int) -> dict[Place, int]:
    """From which offset on each queue is indexed, so that `most` messages are, as many of each queue as of the others
    where not all have a place. Queues that hold few leave theirs to the rest."""
    low: dict[Place, int] = {}
    left = most
    by_stock = sorted(ends, key=lambda place: ends[place].broker_offset - ends[place].min_offset)
    for number, place in enumerate(by_stock):
        end = ends[place]
        taken = min(end.broker_offset - end.min_offset, left // (len(by_stock) - number))
        low[place] = end.broker_offset - taken
        left -= taken
    return low
