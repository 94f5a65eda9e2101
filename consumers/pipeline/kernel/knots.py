"""The produced history of topic queues, and where in it a consumer offset lies.

Message g was stored while the broker offset passed from at most g to above g: between the last knot that does not
exceed g (the right end of a flat run) and the next one.
"""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from consumers.lake.schemas import NO_TOPIC

from .columns import TOPIC_QUEUE, numbers, shared_numbers
from .readings import Readings
from .segments import Segments, at_rows


@dataclass(frozen=True)
class Brackets:
    """For each reading, the last knot whose offset does not exceed the consumer offset, and the next knot. NaN: there
    is none. `oldest_at`: the first knot since the topic queue was created. `place`: where the first of the two knots
    stands in `at_us` and `broker_offset`, -1 if neither is known. `end`: where the knots of this topic queue end."""

    left_at: np.ndarray
    left_offset: np.ndarray
    right_at: np.ndarray
    right_offset: np.ndarray
    oldest_at: np.ndarray
    place: np.ndarray
    end: np.ndarray
    at_us: np.ndarray
    broker_offset: np.ndarray

    @property
    def is_closed(self) -> np.ndarray:
        """Both knots are known: later ones change nothing."""
        return ~np.isnan(self.left_at) & ~np.isnan(self.right_at)

    @property
    def is_lasting(self) -> np.ndarray:
        """Closed, or below the first knot of the life, and so out of all history."""
        return ~np.isnan(self.right_at) & (self.is_closed | (self.oldest_at == self.right_at))

    def only(self, chosen: np.ndarray) -> "Brackets":
        """Of the chosen readings, or of those at row numbers."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in OF_READINGS})

    def where(self, chosen: np.ndarray) -> "Brackets":
        """Those of the others are not known."""
        numbers = {name: np.where(chosen, getattr(self, name), np.nan) for name in OF_READINGS[:5]}
        return replace(self, **numbers, place=np.where(chosen, self.place, -1))

    def replaced(self, rows: np.ndarray, others: "Brackets") -> "Brackets":
        found = {name: getattr(self, name).copy() for name in OF_READINGS}
        behind = len(self.at_us)
        shifted = {"place": np.where(others.place < 0, -1, others.place + behind), "end": others.end + behind}
        for name, values in found.items():
            values[rows] = shifted.get(name, getattr(others, name))
        return Brackets(
            **found,
            at_us=np.concatenate([self.at_us, others.at_us]),
            broker_offset=np.concatenate([self.broker_offset, others.broker_offset]),
        )

    def onward(self, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each reading its knots and those that follow, at most so many: how many, their times and offsets."""
        lengths = np.minimum(self.end - self.place, most)
        begins = Segments.of_lengths(lengths).starts[:-1]
        rows = np.arange(int(lengths.sum())) + np.repeat(self.place - begins, lengths)
        return lengths, self.at_us[rows], self.broker_offset[rows]


OF_READINGS = ("left_at", "left_offset", "right_at", "right_offset", "oldest_at", "place", "end")


@dataclass(frozen=True)
class Knots:
    """Of each asked topic queue its lives, `first_life[q]` to `end_life[q]`; of each life when it began, and its knots,
    `starts[life]` to `starts[life + 1]`. A life ends where the broker offset goes back, and where the topic was gone:
    so both columns rise within one."""

    first_life: np.ndarray
    end_life: np.ndarray
    began_us: np.ndarray
    starts: np.ndarray
    at_us: np.ndarray
    broker_offset: np.ndarray

    @classmethod
    def of(cls, table: pa.Table, asked: pa.Table) -> "Knots":
        """`asked`: rows of a topic queue, one of which may be there several times: groups share a topic."""
        mine, theirs = shared_numbers([asked, table], TOPIC_QUEUE)
        at, offset = numbers(table["at"]), numbers(table["broker_offset"])
        wanted = np.isin(theirs, mine)
        theirs, at, offset = theirs[wanted], at[wanted], offset[wanted]
        order = np.lexsort((offset, at, theirs))
        theirs, at, offset = theirs[order], at[order], offset[order]
        # A mark that is the last of its queue marks the next queue's first knot, which begins a life anyway.
        is_mark = offset == NO_TOPIC
        is_anew = np.append(False, is_mark[:-1])[~is_mark] if len(offset) else is_mark
        return cls._of_sorted(theirs[~is_mark], at[~is_mark], offset[~is_mark], is_anew, mine)

    @classmethod
    def of_readings(cls, readings: Readings, queues: np.ndarray) -> "Knots":
        """What the queues' own readings saw of their broker offsets. `queues`: their numbers, rising."""
        asked = np.zeros(readings.segments.count, bool)
        asked[queues] = True
        rows = np.flatnonzero(readings.segments.spread(asked) & readings.is_seen)
        queue, at, offset = readings.segments.queue[rows], readings.at_us[rows], readings.broker_offset[rows]
        return cls._of_sorted(queue, at, offset, readings.begins[rows], queues)

    @classmethod
    def _of_sorted(
        cls, queue: np.ndarray, at_us: np.ndarray, offset: np.ndarray, is_anew: np.ndarray, asked: np.ndarray
    ) -> "Knots":
        """Rows by queue and time. `is_anew`: the topic was gone before. `asked`: the number of each queue that is asked
        for."""
        begins = np.ones(len(queue), bool)
        begins[1:] = (queue[1:] != queue[:-1]) | (offset[1:] < offset[:-1]) | is_anew[1:]
        rows = np.flatnonzero(begins)
        first, end = (np.searchsorted(queue[rows], asked, side=side) for side in ("left", "right"))
        return cls(first, end, at_us[rows], np.append(rows, len(queue)), at_us, offset)

    def brackets(self, queue: np.ndarray, at: np.ndarray, offset: np.ndarray) -> Brackets:
        """Of readings of queues by their numbers, at a time and a consumer offset."""
        start, end = self._lived(queue, at)
        # Both rise along the knots of a life.
        seen = count_up_to(self.at_us, start, end, at)
        passed = np.minimum(seen, count_up_to(self.broker_offset, start, end, offset))
        left = np.where(passed > 0, start + passed - 1, -1)
        right = np.where(start + passed < end, start + passed, -1)
        right = np.where(at_rows(self.at_us, right) <= at, right, -1)
        return Brackets(
            left_at=at_rows(self.at_us, left),
            left_offset=at_rows(self.broker_offset, left),
            right_at=at_rows(self.at_us, right),
            right_offset=at_rows(self.broker_offset, right),
            oldest_at=at_rows(self.at_us, np.where(end > start, start, -1)),
            place=np.where(left < 0, right, left),
            end=end,
            at_us=self.at_us,
            broker_offset=self.broker_offset,
        )

    def _lived(self, queue: np.ndarray, at_us: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The knots of the life that each queue was in at that moment, from and to; none before the first."""
        first = self.first_life[queue]
        begun = count_up_to(self.began_us, first, self.end_life[queue], at_us)
        # A row beyond the last, with no knots, stands for none.
        life = np.where(begun > 0, first + begun - 1, len(self.began_us))
        bounds = np.append(self.starts, self.starts[-1])
        return bounds[life], bounds[life + 1]


def count_up_to(values: np.ndarray, start: np.ndarray, end: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """How many of values[start:end], which rise, are at most the limit: for each triple at once, by halving."""
    low, high = start.copy(), end.copy()
    while (is_open := low < high).any():
        middle = (low + high) // 2
        is_below = is_open & (values[np.minimum(middle, len(values) - 1)] <= limits)
        low = np.where(is_below, middle + 1, low)
        high = np.where(is_open & ~is_below, middle, high)
    return low - start
