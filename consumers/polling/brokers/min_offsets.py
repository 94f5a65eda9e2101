"""Min offsets, under a budget: queues with lag and dead letters first, the longest unasked before the others."""

from datetime import datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from consumers.polling.cadence import Cadence
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.names import DLQ_PREFIX

from .min_offset_memory import NEVER, MinOffsets, microseconds
from .topic_queues import QUEUE_BITS

IDLE_FACTOR = 10  # queues without lag are asked so much more seldom
SECOND = 1_000_000


async def read_min_offsets(
    admin: BrokerAdmin,
    known: MinOffsets,
    rows: pa.Table,
    ends: pa.Table,
    cadence: Cadence,
    now: datetime,
    deadline_seconds: float,
) -> None:
    """Asks for what is due and remembers it; a queue whose answer fails stays as it was, at first without any."""
    known.settle(ends)
    known.doubt(ends)
    due = plan(known, rows, cadence, now)
    if not len(due):
        return
    answers = await admin.min_offsets(known.names(due), deadline_seconds=deadline_seconds)
    read = [isinstance(answer, int) for answer in answers]
    known.note(due[np.array(read)], [answer for answer in answers if isinstance(answer, int)], now)


def plan(known: MinOffsets, rows: pa.Table, cadence: Cadence, now: datetime) -> np.ndarray:
    """The places of the queues to ask for, in the order of asking."""
    dead = pc.starts_with(known.topics, DLQ_PREFIX).to_numpy(zero_copy_only=False)
    urgent = known.lagging(rows)
    urgent |= dead[known.keys >> QUEUE_BITS] if len(dead) else urgent
    never = known.asked_at == NEVER
    age = np.where(never, np.iinfo(np.int64).max, microseconds(now) - np.where(never, 0, known.asked_at))
    interval = cadence.min_offset_seconds * SECOND
    due = np.flatnonzero(age >= np.where(urgent, interval, IDLE_FACTOR * interval))
    order = np.lexsort((-age[due], ~urgent[due]))
    return due[order][: cadence.min_offset_calls]


def with_min_offsets(table: pa.Table, known: MinOffsets) -> pa.Table:
    """`table` (topic, queue_id, …) with `min_offset`, null where it was never read."""
    return table.append_column("min_offset", known.of(table))
