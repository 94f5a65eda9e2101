"""Remembers between runs which knots enclose the first unconsumed message of each queue, and the next few.

Behind its newest knot the history of a topic queue does not change, so an answer holds while the offset stays between
the same two knots. Without anchors, a queue that stands for days would be looked up in all of those days at each run,
and one that moves on in minutes of everybody's knots. An anchor saves a look-up and decides nothing: without it, the
run finds the same. From where it was found, a queue that moved beyond its knots is looked for onward, and not in all
history again. An offset below all history is kept beside the first knot.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from consumers.lake.schemas import NO_TOPIC

from .columns import QUEUE, TOPIC_QUEUE, bools, key_numbers, matches, numbers, times, whole
from .knots import Brackets, Knots
from .readings import Gathered, Lives
from .segments import HOUR_US, MINUTE_US, Segments, at_rows

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


# Knots are looked for in so much of history at least.
LEAST_REACH_US = 2 * MINUTE_US
# So many knots are kept of a queue: of a topic into which something is written all the time one a reading. A queue that
# moves as fast as messages come is looked up once in so many readings.
KNOTS_KEPT = 24
KNOT = pa.struct([("at", pa.int64()), ("broker_offset", pa.int64())])
# `knots`: in a row, the first not behind the oldest reading that was looked up. `is_oldest`: it is the first of all,
# and what lies before it is out of all history. `seen_offset`: the broker offset of the newest reading, of `seen_at`.
# Times are microseconds since 1970.
ANCHORS = pa.schema(
    [
        *((name, pa.string()) for name in QUEUE[:-1]),
        (QUEUE[-1], pa.int32()),
        ("knots", pa.list_(KNOT)),
        ("is_oldest", pa.bool_()),
        ("seen_at", pa.int64()),
        ("seen_offset", pa.int64()),
    ]
)


@dataclass(frozen=True)
class Anchored:
    """What anchors say of readings. `brackets`: of the queues all of whose readings lie between their anchor's knots.
    `is_oldest`: no knot was before their anchor's. `onward_us`, `at_most_us`: where to go on looking for those of other
    queues, from and to; NaN where no anchor is a help."""

    brackets: Brackets
    is_oldest: np.ndarray
    onward_us: np.ndarray
    at_most_us: np.ndarray

    def spans(self) -> Iterator[tuple[np.ndarray, float, float]]:
        """The readings to look for, by the hour of their anchor, each time with the span to look in. Queues that are
        days apart are not looked for in all that lies between."""
        hour = self.onward_us // HOUR_US
        for one in np.unique(hour[~np.isnan(hour)]):
            rows = np.flatnonzero(hour == one)
            yield rows, float(self.onward_us[rows].min()), float(self.at_most_us[rows].max())

    @classmethod
    def of(cls, anchors: pa.Table, gathered: Gathered, rows: np.ndarray) -> "Anchored":
        """`rows`: of readings, by queue and time."""
        readings = gathered.readings
        mine = _places(anchors, gathered)
        queue = readings.segments.queue[rows]
        at, offset = readings.at_us[rows], readings.consumer_offset[rows]
        is_oldest = np.append(bools(anchors["is_oldest"]), False)[mine][queue]
        found = _kept_knots(anchors, mine).brackets(queue, at, offset)
        found = replace(found, oldest_at=np.where(is_oldest, found.oldest_at, np.nan))
        has_moved = (np.bincount(queue[~found.is_lasting], minlength=len(mine)) > 0)[queue]
        begin = _first(queue, np.where(np.isnan(found.left_at), found.oldest_at, found.left_at))
        first = _first(queue, np.where(np.isnan(found.left_at), offset, found.left_offset))
        seen_at, seen = (at_rows(numbers(anchors[name]), mine)[queue] for name in ("seen_at", "seen_offset"))
        share = (offset - first) / np.fmax(seen - first, 1)
        # As if messages had come evenly; where they did not, the reach is twice that. And as far as the knots that were
        # kept: as many are to be found again.
        lengths = at_rows(_lengths_us(anchors), mine)[queue]
        reach = 2 * share * (seen_at - begin) + lengths + LEAST_REACH_US
        goes_on = has_moved & (offset >= first)
        onward, at_most = np.where(goes_on, begin, np.nan), np.where(goes_on, begin + reach, np.nan)
        return cls(found.where(~has_moved), is_oldest, onward, at_most)


def _first(queue: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Of each row the value of the first row of its queue."""
    begins = np.append(True, queue[1:] != queue[:-1])[: len(queue)]
    return values[np.flatnonzero(begins)[np.cumsum(begins) - 1]]


def _lengths_us(anchors: pa.Table) -> np.ndarray:
    """How long a time the knots of each are of."""
    at = numbers(anchors["knots"].combine_chunks().flatten().field("at"))
    starts = Segments.of_lists(anchors["knots"].combine_chunks()).starts
    return at[starts[1:] - 1] - at[starts[:-1]]


def _kept_knots(anchors: pa.Table, mine: np.ndarray) -> Knots:
    """`mine`: the row of the anchor of each queue."""
    lists = anchors["knots"].combine_chunks()
    at_us, offset = (numbers(lists.flatten().field(name)) for name in KNOT.names)
    starts = Segments.of_lists(lists).starts
    began = at_rows(at_us, starts[:-1])
    has_one = mine >= 0
    return Knots(np.where(has_one, mine, 0), np.where(has_one, mine + 1, 0), began, starts, at_us, offset)


def _places(anchors: pa.Table, gathered: Gathered) -> np.ndarray:
    """Of each queue the row of its anchor, -1 where it has none that holds."""
    place = matches(gathered.queues, anchors, QUEUE)
    if anchors.num_rows:
        place[_is_anew(anchors, gathered, place)] = -1
    return place


def _is_anew(anchors: pa.Table, gathered: Gathered, place: np.ndarray) -> np.ndarray:
    """Whether the topic of each queue was recreated since the anchor, or within these readings."""
    readings, segments = gathered.readings, gathered.readings.segments
    seen_at, seen = (segments.spread(at_rows(numbers(anchors[name]), place)) for name in ("seen_at", "seen_offset"))
    is_past = (readings.broker_offset < seen) | readings.is_gone
    is_back = readings.broker_offset < segments.before(readings.broker_offset, readings.is_seen)
    return segments.any(is_back | ((readings.at_us > seen_at) & is_past))


def new_anchors(gathered: Gathered, rows: np.ndarray, brackets: Brackets) -> pa.Table:
    """One of each queue, by its oldest reading: the next run looks at some of the same again. `rows`: the readings that
    the brackets are of, by queue and time."""
    readings, segments = gathered.readings, gathered.readings.segments
    # A topic that was created anew since has other knots.
    lasting = np.flatnonzero(brackets.is_lasting & Lives.of(readings).is_newest[rows])
    chosen = np.full(segments.count, -1)
    # Of an assignment that names a place twice the last value stays.
    chosen[segments.queue[rows[lasting[::-1]]]] = lasting[::-1]
    queues = np.flatnonzero(chosen >= 0)
    newest = segments.last(readings.is_seen)[queues]
    lengths, at_us, offset = brackets.only(chosen[queues]).onward(KNOTS_KEPT)
    knots = pa.StructArray.from_arrays([whole(at_us), whole(offset)], fields=list(KNOT))
    found = gathered.queues.select(QUEUE).take(pa.array(queues))
    columns = {
        "knots": pa.ListArray.from_arrays(pa.array(Segments.of_lengths(lengths).starts, pa.int32()), knots),
        "is_oldest": pa.array(np.isnan(brackets.left_at[chosen[queues]])),
        "seen_at": whole(at_rows(readings.at_us, newest)),
        "seen_offset": whole(at_rows(readings.broker_offset, newest)),
    }
    for name, column in columns.items():
        found = found.append_column(name, column)
    return found.cast(ANCHORS)
