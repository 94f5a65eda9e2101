"""Whether a queue's time lag rises: the median of the first third of the trend against that of its last third."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .queue_arrays import MICROSECONDS, QUEUE, seconds_between
from .time_lag import EXACT, INTERPOLATED

MINUTE_US = 60 * MICROSECONDS


def trends(windows: DataFrame, since_us: int, until_us: int) -> DataFrame:
    """The queue columns, trend_from_seconds, trend_to_seconds, trend_covers_seconds, from windows of one minute."""
    third = (until_us - since_us) // 3
    start = F.unix_micros("start")
    is_known = F.col("time_lag_kind").isin(EXACT, INTERPOLATED)
    in_range = windows.where(is_known & (start >= since_us) & (start < until_us))
    grouped = in_range.groupBy(*QUEUE).agg(
        F.median(F.when(start < since_us + third, F.col("time_lag_seconds"))).alias("trend_from_seconds"),
        F.median(F.when(start >= until_us - third, F.col("time_lag_seconds"))).alias("trend_to_seconds"),
        F.min(start).alias("first_us"),
        F.max(start).alias("last_us"),
    )
    covers = seconds_between(F.col("first_us"), F.col("last_us") + MINUTE_US)
    return grouped.select(*QUEUE, "trend_from_seconds", "trend_to_seconds", covers.alias("trend_covers_seconds"))
