"""How far the delay levels of a broker are delivered, and where they end: two numbers a level, in the lag reading.

The first is asked before the second: what comes between them makes a backlog too large for a moment, never negative.
A failure is the delay levels' own; consumer and broker offsets are read all the same.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from consumers.polling.brokers.topic_queues import encoded
from consumers.rocketmq.admin import BrokerAdmin
from consumers.rocketmq.bodies.delay_levels import SCHEDULE_TOPIC, level_of_queue
from consumers.rocketmq.wire.errors import RocketMQError


@dataclass(frozen=True)
class DelayOffsets:
    """By level. A level that is not in `delivered` has delivered nothing yet. Where `error` is set nothing counts."""

    delivered: Mapping[int, int] = field(default_factory=dict)
    ends: Mapping[int, int] = field(default_factory=dict)
    error: str | None = None

    def delay_offset(self, level: int) -> int:
        """0 before the first message of a level was delivered (RocketMQ 5.4.0, ScheduleMessageService.start)."""
        return self.delivered.get(level, 0)

    @property
    def backlogs(self) -> dict[int, int]:
        """Messages that wait, of levels that have some."""
        return {
            level: end - self.delay_offset(level)
            for level, end in sorted(self.ends.items())
            if end > self.delay_offset(level)
        }


async def read_delivered(admin: BrokerAdmin, deadline_seconds: float) -> DelayOffsets:
    try:
        return DelayOffsets(await admin.delay_offsets(deadline_seconds=deadline_seconds))
    except RocketMQError as failure:
        return DelayOffsets(error=str(failure))


def take_level_ends(ends: pa.Table, *, keep: bool) -> tuple[pa.Table, dict[int, int]]:
    """`ends` (topic, queue_id, broker_offset) and the schedule topic's ends by level; its rows go unless `keep`."""
    topics = encoded(ends["topic"])
    place = topics.dictionary.index(pa.scalar(SCHEDULE_TOPIC, topics.dictionary.type)).as_py()
    if place < 0:
        return ends, {}
    scheduled = topics.indices.to_numpy() == place
    rows = ends.take(pa.array(np.flatnonzero(scheduled)))
    queues, offsets = rows["queue_id"].to_pylist(), rows["broker_offset"].to_pylist()
    found = {level_of_queue(queue_id): end for queue_id, end in zip(queues, offsets, strict=True)}
    return ends if keep else ends.filter(pa.array(~scheduled)), found
