"""The windows of a minute that tell how the time lag of a queue went, as an array a queue."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .queue_arrays import QUEUE

NAMES = ["time_lag_seconds", "time_lag_kind", "lag_messages", "consume_rate", "produce_rate"]


def minute_arrays(windows: DataFrame) -> DataFrame:
    """The queue columns and `minutes`: [{start_us, NAMES…}], oldest first."""
    entry = F.struct(F.unix_micros("start").alias("start_us"), *NAMES)
    return windows.groupBy(*QUEUE).agg(F.sort_array(F.collect_list(entry)).alias("minutes"))
