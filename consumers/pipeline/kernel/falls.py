"""Consumer offsets that went back: one row for each step of a queue that ends below where it began.

A topic that was created anew is no fall: its broker offset went back, too, or it was gone in between. A step in which a
slave with an older offset stood in for its master counts wherever it ends: nobody read what members took from there.
"""

import numpy as np
import pyarrow as pa

from consumers.lake.schemas import TEXT
from consumers.vocabulary.states import UnknownReason

from .columns import whole
from .readings import Gathered
from .segments import MICROSECONDS

US = pa.int64()
FALLS = pa.schema(
    [
        ("cluster", TEXT),
        ("group", TEXT),
        ("topic", TEXT),
        ("broker", TEXT),
        ("queue_id", pa.int32()),
        ("before_us", US),  # the reading before, and the offset that it had
        ("from_offset", US),
        ("at_us", US),  # the first reading that shows the lower offset
        ("to_offset", US),
        ("broker_offset", US),  # then
        ("min_offset", US),  # then; null: not read
        ("fastest", pa.float64()),  # messages a second: the fastest step forward of the queue; 0: none was seen
        ("was_lost", pa.bool_()),  # its broker had no offset in between
        ("was_behind", pa.bool_()),  # a slave had an older one in between
    ]
)


def offset_falls(gathered: Gathered, since_us: float, until_us: float) -> pa.Table:
    """A table FALLS of the steps that end in [since, until)."""
    readings, segments = gathered.readings, gathered.readings.segments
    good, at = readings.is_good, readings.at_us
    before = segments.before(readings.consumer_offset, good)
    moved = np.where(good, readings.consumer_offset - before, np.nan)
    is_anew = readings.is_anew(good)
    since = segments.before(at, good)
    behind = np.cumsum(readings.reason.is_in([UnknownReason.SLAVE_BEHIND]))
    was_behind = ~np.isnan(moved) & (behind > segments.before(behind, good))
    rows = np.flatnonzero(((moved < 0) | was_behind) & ~is_anew & (at >= since_us) & (at < until_us))
    if not len(rows):
        return FALLS.empty_table()
    rates = moved / np.maximum((at - since) / MICROSECONDS, 1e-6)
    fastest = np.nan_to_num(segments.max(rates, good & (moved > 0) & ~is_anew))
    lost = readings.reason.is_in([UnknownReason.OFFSET_LOST])
    queue = segments.queue[rows]
    lost_before = np.concatenate([[0], np.cumsum(lost)])
    first = _places(gathered, rows, since[rows])
    named = {
        "before_us": whole(since[rows]),
        "from_offset": whole(before[rows]),
        "at_us": whole(at[rows]),
        "to_offset": whole(readings.consumer_offset[rows]),
        "broker_offset": whole(readings.broker_offset[rows]),
        "min_offset": whole(readings.min_offset[rows]),
        "fastest": pa.array(fastest[queue]),
        "was_lost": pa.array(lost_before[rows] > lost_before[first]),
        "was_behind": pa.array(was_behind[rows]),
    }
    names = [name for name in FALLS.names if name not in named]
    found = gathered.queues.select(names).take(pa.array(queue))
    for name, column in named.items():
        found = found.append_column(name, column)
    return found.select(FALLS.names).cast(FALLS)


def _places(gathered: Gathered, rows: np.ndarray, since_us: np.ndarray) -> np.ndarray:
    """The row of each step's beginning: falls are few."""
    starts, queue = gathered.readings.segments.starts, gathered.readings.segments.queue
    at = gathered.readings.at_us
    found = [
        starts[queue[row]] + np.searchsorted(at[starts[queue[row]] : row], since)
        for row, since in zip(rows, since_us, strict=True)
    ]
    return np.array(found, np.int64)
