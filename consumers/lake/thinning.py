"""Fewer knots for older hours: what the produced history loses with age, and what it must keep.

Kept of each step: its last knot. Kept always: the ends of a gap or flat run longer than the step (or the first message
after a quiet hour would look an hour old), and both sides of an offset that went back.
"""

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

KEY = ["topic", "broker", "queue_id"]


def thin(knots: pa.Table, step: timedelta) -> pa.Table:
    """`knots` of one cluster, without doubles, sorted by queue and time, thinned to one in `step`."""
    ordered = (
        knots.group_by([*knots.column_names], use_threads=False)
        .aggregate([])
        .sort_by([(name, "ascending") for name in [*KEY, "at", "broker_offset"]])
    )
    if ordered.num_rows < 3:
        return ordered.select(knots.column_names)
    at = pc.cast(ordered["at"], pa.int64()).to_numpy()
    offset = ordered["broker_offset"].to_numpy()
    queue = _queue_numbers(ordered)
    width = int(step / timedelta(microseconds=1))

    same_queue = queue[1:] == queue[:-1]
    last_of_step = np.append(~same_queue | (at[1:] // width != at[:-1] // width), True)
    far_apart = same_queue & (at[1:] - at[:-1] > width)
    went_back = same_queue & (offset[1:] < offset[:-1])
    pair = far_apart | went_back
    first_of_queue = np.insert(~same_queue, 0, True)
    keep = last_of_step | first_of_queue | np.append(pair, False) | np.insert(pair, 0, False)
    return ordered.filter(pa.array(keep)).select(knots.column_names)


def _queue_numbers(ordered: pa.Table) -> np.ndarray:
    """A number per row that changes wherever the queue does."""
    changed = np.zeros(ordered.num_rows, dtype=bool)
    for name in KEY:
        codes = pc.rank(ordered[name], sort_keys="ascending", tiebreaker="min").to_numpy()
        changed[1:] |= codes[1:] != codes[:-1]
    return np.cumsum(changed)
