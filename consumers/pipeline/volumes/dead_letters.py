"""Dead-letter queues as arrays of readings, like the queues of groups, though nobody need consume them."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from consumers.pipeline.queue_arrays import OFFSETS, queue_arrays
from consumers.rocketmq.names import DLQ_PREFIX


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
