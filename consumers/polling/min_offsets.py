"""Min offsets, under a budget: queues with lag and dead letters first, the longest unasked before the others."""

from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.names import DLQ_PREFIX

from .cadence import Cadence
from .memory import BrokerMemory

IDLE_FACTOR = 10  # queues without lag are asked so much more seldom


async def read_min_offsets(
    admin: BrokerAdmin,
    known: BrokerMemory,
    rows: pa.Table,
    ends: pa.Table,
    cadence: Cadence,
    now: datetime,
    deadline_seconds: float,
) -> None:
    """Asks for what is due and remembers it; a queue whose answer fails stays as it was, at first without any."""
    present = set(zip(ends["topic"].to_pylist(), ends["queue_id"].to_pylist(), strict=True))
    known.forget_missing_queues(present)
    due = plan(known, rows, present, cadence, now)
    if not due:
        return
    answers = await admin.min_offsets(due, deadline_seconds=deadline_seconds)
    for key, answer in zip(due, answers, strict=True):
        if isinstance(answer, int):
            known.min_offsets[key] = answer
            known.min_offsets_at[key] = now


def plan(
    known: BrokerMemory, rows: pa.Table, present: set[tuple[str, int]], cadence: Cadence, now: datetime
) -> list[tuple[str, int]]:
    lagging = rows.filter(pc.less(rows["consumer_offset"], rows["broker_offset"]))
    urgent = set(zip(lagging["topic"].to_pylist(), lagging["queue_id"].to_pylist(), strict=True)) & present
    urgent |= {key for key in present if key[0].startswith(DLQ_PREFIX)}
    ages = {key: now - known.min_offsets_at.get(key, datetime.min.replace(tzinfo=now.tzinfo)) for key in present}
    limit = {
        True: timedelta(seconds=cadence.min_offset_seconds),
        False: timedelta(seconds=cadence.min_offset_seconds * IDLE_FACTOR),
    }
    due = [key for key in present if ages[key] >= limit[key in urgent]]
    return sorted(due, key=lambda key: (key not in urgent, -ages[key], key))[: cadence.min_offset_calls]


def with_min_offsets(table: pa.Table, known: BrokerMemory) -> pa.Table:
    """`table` (topic, queue_id, …) with `min_offset`, null where it was never read."""
    queues = zip(table["topic"].to_pylist(), table["queue_id"].to_pylist(), strict=True)
    values = [known.min_offsets.get(key) for key in queues]
    return table.append_column("min_offset", pa.array(values, pa.int64()))
