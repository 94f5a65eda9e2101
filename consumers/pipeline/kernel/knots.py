"""Readings to knots: when a topic queue's broker offset was seen to change, both ends of every flat run.

A knot is also kept once an hour, so that a quiet queue has an oldest one to count "at least" from.
"""

import numpy as np
import pyarrow as pa

from consumers.pipeline.kernel.arrays.columns import times, whole
from consumers.pipeline.kernel.arrays.gathered import Gathered
from consumers.pipeline.kernel.arrays.keys import key_numbers
from consumers.pipeline.kernel.arrays.names import TOPIC_QUEUE
from consumers.pipeline.kernel.arrays.segments import HOUR_US, MINUTE_US


def new_knots(gathered: Gathered, since_us: int, until_us: int) -> pa.Table:
    """cluster, topic, broker, queue_id, broker_offset, at, minute: of the changes seen in [since, until).

    The readings begin a few before `since`. `minute` is when the change was seen: the right end of a flat run lies
    before it, and belongs into the file of the change.
    """
    readings = gathered.readings
    rows = np.flatnonzero(~np.isnan(readings.broker_offset) & readings.segments.spread(_serving(gathered)))
    queue, at, offset = readings.segments.queue[rows], readings.at_us[rows], readings.broker_offset[rows]
    has_before, has_earlier = _follows(queue, 1), _follows(queue, 2)
    before_at, before, earlier = _shifted(at, 1), _shifted(offset, 1), _shifted(offset, 2)

    has_changed = has_before & (offset != before)
    is_hourly = has_before & (at // HOUR_US != before_at // HOUR_US)
    is_knot = (at >= since_us) & (at < until_us) & (~has_before | has_changed | is_hourly)
    # The end of a flat run; any other sight became a knot by its own change.
    ends_run = is_knot & has_changed & (~has_earlier | (earlier == before))
    seen = np.concatenate([queue[is_knot], queue[ends_run]])
    found = gathered.queues.select(TOPIC_QUEUE).take(pa.array(seen))
    change_at = np.concatenate([at[is_knot], at[ends_run]])
    columns = {
        "broker_offset": whole(np.concatenate([offset[is_knot], before[ends_run]])),
        "at": times(np.concatenate([at[is_knot], before_at[ends_run]])),
        "minute": times(change_at // MINUTE_US * MINUTE_US),
    }
    for name, column in columns.items():
        found = found.append_column(name, column)
    return found


def _serving(gathered: Gathered) -> np.ndarray:
    """Every group of a topic saw the same broker offset in the same reading: the one that saw most of them serves."""
    readings = gathered.readings
    sights = readings.segments.count_of(~np.isnan(readings.broker_offset))
    topic_queue = key_numbers(gathered.queues, TOPIC_QUEUE)
    chosen = np.zeros(len(topic_queue), bool)
    order = np.lexsort((sights, topic_queue))
    chosen[order[np.append(topic_queue[order][1:] != topic_queue[order][:-1], True)[: len(order)]]] = True
    return chosen


def _follows(queue: np.ndarray, steps: int) -> np.ndarray:
    """Whether the sight so many before it is of the same queue."""
    found = np.zeros(len(queue), bool)
    found[steps:] = queue[steps:] == queue[:-steps]
    return found


def _shifted(values: np.ndarray, steps: int) -> np.ndarray:
    found = np.full(len(values), np.nan)
    found[steps:] = values[:-steps]
    return found
