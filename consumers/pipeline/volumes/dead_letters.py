"""What came into dead-letter topics: their queues as arrays of readings, though nobody need consume them."""

from datetime import datetime, timedelta

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from consumers.lake.schemas import TEXT, TIME
from consumers.pipeline.durations import Durations
from consumers.pipeline.frames import Frames
from consumers.pipeline.queue_arrays import OFFSETS, queue_arrays
from consumers.pipeline.slices import microseconds
from consumers.pipeline.windows import in_windows
from consumers.rocketmq.names import DLQ_PREFIX

from .moved import with_volumes
from .of_groups import dead_letter_sums
from .topic_facts import with_appeared

SUMS = pa.schema(
    [
        ("cluster", TEXT),
        ("group", TEXT),
        ("start", TIME),
        ("dead", pa.struct([("messages", pa.int64()), ("unknown", TEXT)])),
    ]
)


def dead_letters(frames: Frames, since: datetime, until: datetime, durations: Durations) -> DataFrame:
    """cluster, group, start and `dead` (messages, or the reason) of the windows of [since, until)."""
    reach = since - timedelta(seconds=durations.lookback_seconds)
    if not frames.has("dead_letters", reach, until):
        return frames.known(SUMS.empty_table())
    arrays = dead_letter_arrays(frames.table("dead_letters", reach, until))
    arrays = with_appeared(arrays, frames, reach, until, durations)
    windows = in_windows(arrays, microseconds(since), microseconds(until), durations)
    return dead_letter_sums(with_volumes(windows))


def dead_letter_arrays(rows: DataFrame) -> DataFrame:
    """`rows` of the lake's dead letters as queue_arrays gives them, each queue in the group that it is named after."""
    missing = {name: F.lit(None).cast("bigint") for name in OFFSETS if name not in rows.columns}
    readings = rows.withColumns(
        {
            **missing,
            "group": F.substring("topic", len(DLQ_PREFIX) + 1, 1_000),
            "kind": F.lit("dlq"),
            "first_stored_at": F.lit(None).cast("timestamp"),
            "unknown_reason": F.lit(None).cast("string"),
        }
    )
    return queue_arrays(readings)
