"""Anchors: between which two knots the first unconsumed message of a queue was stored, kept from run to run.

Behind its newest knot the history of a topic queue does not change, so an answer holds while the offset stays between
the same two knots. Without anchors, a queue that stands for days would be looked up in all of those days at each run.
An anchor saves a look-up and decides nothing: without it, the run finds the same.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from consumers.pipeline.kernel.arrays.columns import numbers, whole
from consumers.pipeline.kernel.arrays.gathered import Gathered
from consumers.pipeline.kernel.arrays.keys import matches
from consumers.pipeline.kernel.arrays.names import QUEUE
from consumers.pipeline.kernel.arrays.segments import at_rows

NUMBERS = ("left_at", "left_offset", "right_at", "right_offset")
# `seen_offset`: the broker offset of the newest reading, of `seen_at`. Times are microseconds since 1970.
ANCHORS = pa.schema(
    [
        *((name, pa.string()) for name in QUEUE[:-1]),
        (QUEUE[-1], pa.int32()),
        *((name, pa.int64()) for name in (*NUMBERS, "seen_at", "seen_offset")),
    ]
)


@dataclass(frozen=True)
class Brackets:
    """Of each reading the last knot whose offset does not exceed the consumer offset, and the next one. NaN: there is
    none. `oldest_at`: the first knot of the topic queue's life."""

    left_at: np.ndarray
    left_offset: np.ndarray
    right_at: np.ndarray
    right_offset: np.ndarray
    oldest_at: np.ndarray

    @property
    def is_closed(self) -> np.ndarray:
        """Both knots are known: later ones change nothing."""
        return ~np.isnan(self.left_at) & ~np.isnan(self.right_at)

    def replaced(self, rows: np.ndarray, others: "Brackets") -> "Brackets":
        found = {name: values.copy() for name, values in vars(self).items()}
        for name, values in vars(others).items():
            found[name][rows] = values
        return Brackets(**found)


def anchored(anchors: pa.Table, gathered: Gathered, rows: np.ndarray) -> Brackets:
    """The brackets of those readings that lie between the knots of their queue's anchor."""
    readings = gathered.readings
    if anchors.num_rows:
        place = matches(gathered.queues, anchors, QUEUE)
        place[_is_anew(anchors, gathered, place)] = -1
        mine = place[readings.segments.queue[rows]]
    else:
        mine = np.full(len(rows), -1)
    found = {name: at_rows(numbers(anchors[name]), mine) for name in NUMBERS}
    offset = readings.consumer_offset[rows]
    fits = (found["left_offset"] <= offset) & (offset < found["right_offset"])
    fits &= found["right_at"] <= readings.at_us[rows]
    return Brackets(
        **{name: np.where(fits, values, np.nan) for name, values in found.items()}, oldest_at=np.full(len(rows), np.nan)
    )


def _is_anew(anchors: pa.Table, gathered: Gathered, place: np.ndarray) -> np.ndarray:
    """Queues whose broker offset went back among these readings or since the anchor: the topic was created anew."""
    readings, segments = gathered.readings, gathered.readings.segments
    end = readings.broker_offset
    seen_at, seen = (segments.spread(at_rows(numbers(anchors[name]), place)) for name in ("seen_at", "seen_offset"))
    is_back = end < segments.before(end, ~np.isnan(end))
    return segments.any(is_back | ((readings.at_us > seen_at) & (end < seen)))


def new_anchors(gathered: Gathered, rows: np.ndarray, brackets: Brackets) -> pa.Table:
    """One of each queue, by its newest reading. `rows`: the readings that the brackets are of, rising."""
    readings, segments = gathered.readings, gathered.readings.segments
    closed = np.flatnonzero(brackets.is_closed)
    chosen = np.full(segments.count, -1)
    chosen[segments.queue[rows[closed]]] = closed
    queues = np.flatnonzero(chosen >= 0)
    newest = segments.last(~np.isnan(readings.broker_offset))[queues]
    found = gathered.queues.select(QUEUE).take(pa.array(queues))
    columns = {name: getattr(brackets, name)[chosen[queues]] for name in NUMBERS}
    columns |= {"seen_at": at_rows(readings.at_us, newest), "seen_offset": at_rows(readings.broker_offset, newest)}
    for name, values in columns.items():
        found = found.append_column(name, whole(values))
    return found.cast(ANCHORS)
