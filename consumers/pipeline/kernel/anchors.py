"""Remembers between runs which two knots enclose the first unconsumed message of each queue.

Behind its newest knot the history of a topic queue does not change, so an answer holds while the offset stays between
the same two knots. Without anchors, a queue that stands for days would be looked up in all of those days at each run.
An anchor saves a look-up and decides nothing: without it, the run finds the same. From where it was found, a queue that
moved is looked for onward, and not in all history again. An offset below all history is kept beside the first knot.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from consumers.lake.schemas import NO_TOPIC

from .columns import QUEUE, TOPIC_QUEUE, key_numbers, matches, numbers, times, whole
from .readings import Gathered, Lives
from .segments import HOUR_US, MINUTE_US, at_rows

# Readings to knots: when a topic queue's broker offset was seen to change, both ends of every flat run.
#
# A knot is also kept once an hour, so that a quiet queue has an oldest one to count "at least" from. Where the topic
# was gone, a knot NO_TOPIC stands before the first one of the topic that came after it.


def new_knots(gathered: Gathered, since_us: int, until_us: int) -> pa.Table:
    """cluster, topic, broker, queue_id, broker_offset, at, minute: of the changes seen in [since, until).

    The readings begin a few before `since`. `minute` is when the change was seen: the right end of a flat run lies
    before it, and belongs into the file of the change.
    """
    readings = gathered.readings
    rows = np.flatnonzero(readings.is_seen & readings.segments.spread(_serving(gathered)))
    seen = np.flatnonzero((readings.at_us[rows] >= since_us) & (readings.at_us[rows] < until_us))
    # Of each sight, and of the first and the second before it.
    queue, one_queue, two_queue = _back(readings.segments.queue[rows], seen)
    at, before_at, _ = _back(readings.at_us[rows], seen)
    offset, before, earlier = _back(readings.broker_offset[rows], seen)
    has_before, has_earlier = (seen >= 1) & (one_queue == queue), (seen >= 2) & (two_queue == queue)

    has_changed = has_before & ((offset != before) | readings.begins[rows[seen]])
    is_hourly = has_before & (at // HOUR_US != before_at // HOUR_US)
    is_knot = ~has_before | has_changed | is_hourly
    # The end of a flat run; any other sight became a knot by its own change.
    ends_run = is_knot & has_changed & (~has_earlier | (earlier == before))
    changes = _knots(gathered, queue[is_knot], offset[is_knot], at[is_knot], at[is_knot])
    ends = _knots(gathered, queue[ends_run], before[ends_run], before_at[ends_run], at[ends_run])
    return pa.concat_tables([changes, ends, *_new_lives(gathered, since_us, until_us)])


def _new_lives(gathered: Gathered, since_us: int, until_us: int) -> Iterator[pa.Table]:
    """Of topics that were gone: by any group, as the one that serves may not have been there before."""
    readings = gathered.readings
    at = readings.at_us
    rows = np.flatnonzero(readings.was_gone(readings.is_seen) & (at >= since_us) & (at < until_us))
    if len(rows):
        for offset in (np.full(len(rows), NO_TOPIC), readings.broker_offset[rows]):
            yield _knots(gathered, readings.segments.queue[rows], offset, at[rows], at[rows])


def _knots(
    gathered: Gathered, queue: np.ndarray, offset: np.ndarray, at: np.ndarray, change_at: np.ndarray
) -> pa.Table:
    columns = {
        "broker_offset": whole(offset),
        "at": times(at),
        "minute": times(change_at // MINUTE_US * MINUTE_US),
    }
    found = gathered.queues.select(TOPIC_QUEUE).take(pa.array(queue))
    for name, column in columns.items():
        found = found.append_column(name, column)
    return found


def _serving(gathered: Gathered) -> np.ndarray:
    """Every group of a topic saw the same broker offset in the same reading: the one that saw most of them serves."""
    readings = gathered.readings
    sights = readings.segments.count_of(readings.is_seen)
    topic_queue = key_numbers(gathered.queues, TOPIC_QUEUE)
    chosen = np.zeros(len(topic_queue), bool)
    order = np.lexsort((sights, topic_queue))
    chosen[order[np.append(topic_queue[order][1:] != topic_queue[order][:-1], True)[: len(order)]]] = True
    return chosen


def _back(values: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return values[rows], values[np.maximum(rows - 1, 0)], values[np.maximum(rows - 2, 0)]


NUMBERS = ("left_at", "left_offset", "right_at", "right_offset")
# Knots are looked for in so much of history at least.
LEAST_REACH_US = 10 * MINUTE_US
# `left_at`, `left_offset`: null where the right one is the first knot of all.
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

    @property
    def is_lasting(self) -> np.ndarray:
        """Closed, or below the first knot of the life, and so out of all history."""
        return ~np.isnan(self.right_at) & (self.is_closed | (self.oldest_at == self.right_at))

    def only(self, chosen: np.ndarray) -> "Brackets":
        return Brackets(**{name: values[chosen] for name, values in vars(self).items()})

    def replaced(self, rows: np.ndarray, others: "Brackets") -> "Brackets":
        found = {name: values.copy() for name, values in vars(self).items()}
        for name, values in vars(others).items():
            found[name][rows] = values
        return Brackets(**found)


@dataclass(frozen=True)
class Anchored:
    """What anchors say of readings, a row each. `brackets`: of those that are still at the knots of their queue's
    anchor. `onward_us`, `at_most_us`: where to go on looking for those that moved on from there, from and to; NaN for
    the others."""

    brackets: Brackets
    onward_us: np.ndarray
    at_most_us: np.ndarray

    def spans(self) -> Iterator[tuple[np.ndarray, float, float]]:
        """The readings that moved on, by the hour of their anchor, each time with the span to look in. Queues that are
        days apart are not looked for in all that lies between."""
        hour = self.onward_us // HOUR_US
        for one in np.unique(hour[~np.isnan(hour)]):
            rows = np.flatnonzero(hour == one)
            yield rows, float(self.onward_us[rows].min()), float(self.at_most_us[rows].max())

    @classmethod
    def of(cls, anchors: pa.Table, gathered: Gathered, rows: np.ndarray) -> "Anchored":
        readings = gathered.readings
        mine = _places(anchors, gathered)[readings.segments.queue[rows]]
        found = {name: at_rows(numbers(anchors[name]), mine) for name in ANCHORS.names[len(QUEUE) :]}
        offset, is_oldest = readings.consumer_offset[rows], np.isnan(found["left_at"])
        is_past = found["right_at"] <= readings.at_us[rows]
        fits = is_past & (is_oldest | (found["left_offset"] <= offset)) & (offset < found["right_offset"])
        brackets = Brackets(
            **{name: np.where(fits, found[name], np.nan) for name in NUMBERS},
            oldest_at=np.where(fits & is_oldest, found["right_at"], np.nan),
        )
        begin = np.where(is_oldest, found["right_at"], found["left_at"])
        first = np.where(is_oldest, found["right_offset"], found["left_offset"])
        share = (offset - first) / np.fmax(found["seen_offset"] - first, 1)
        # As if messages had come evenly; where they did not, the reach is twice that.
        reach = 2 * share * (found["seen_at"] - begin) + LEAST_REACH_US
        goes_on = is_past & ~fits & (offset >= first)
        return cls(brackets, np.where(goes_on, begin, np.nan), np.where(goes_on, begin + reach, np.nan))


def _places(anchors: pa.Table, gathered: Gathered) -> np.ndarray:
    """Of each queue the row of its anchor, -1 where it has none that holds."""
    place = matches(gathered.queues, anchors, QUEUE)
    if anchors.num_rows:
        place[_is_anew(anchors, gathered, place)] = -1
    return place


def _is_anew(anchors: pa.Table, gathered: Gathered, place: np.ndarray) -> np.ndarray:
    """Queues whose topic was created anew since the anchor, or among these readings."""
    readings, segments = gathered.readings, gathered.readings.segments
    seen_at, seen = (segments.spread(at_rows(numbers(anchors[name]), place)) for name in ("seen_at", "seen_offset"))
    is_past = (readings.broker_offset < seen) | readings.is_gone
    is_back = readings.broker_offset < segments.before(readings.broker_offset, readings.is_seen)
    return segments.any(is_back | ((readings.at_us > seen_at) & is_past))


def new_anchors(gathered: Gathered, rows: np.ndarray, brackets: Brackets) -> pa.Table:
    """One of each queue, by its newest reading. `rows`: the readings that the brackets are of, rising."""
    readings, segments = gathered.readings, gathered.readings.segments
    # A topic that was created anew since has other knots.
    lasting = np.flatnonzero(brackets.is_lasting & Lives.of(readings).is_newest[rows])
    chosen = np.full(segments.count, -1)
    chosen[segments.queue[rows[lasting]]] = lasting
    queues = np.flatnonzero(chosen >= 0)
    newest = segments.last(readings.is_seen)[queues]
    found = gathered.queues.select(QUEUE).take(pa.array(queues))
    columns = {name: getattr(brackets, name)[chosen[queues]] for name in NUMBERS}
    columns |= {"seen_at": at_rows(readings.at_us, newest), "seen_offset": at_rows(readings.broker_offset, newest)}
    for name, values in columns.items():
        found = found.append_column(name, whole(values))
    return found.cast(ANCHORS)
