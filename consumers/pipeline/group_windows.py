"""Windows of a group from those of its queues.
One queue whose lag is unknown makes the group's unknown, with the reason.

Lag and time lag count the group's own topics and its retry topic, where messages wait from when they were due.
Rates are those of its own topics.
"""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from consumers.polling.reading import NO_LAG_REASONS

from .membership import GROUP
from .time_lag import AT_LEAST, UNKNOWN
from .volumes.of_groups import SUMS, volume_sums

NOT_READ = "a broker of this group was not read"
AT_LEAST_ONLY = "time lag: older than the known history"
LAG_ONLY = "time lag: not known of every queue"


def group_windows(windows: DataFrame, unread: DataFrame) -> DataFrame:
    """cluster, group, start, lag_messages, time_lag_seconds, consume_rate, produce_rate, readings, unknown_reason, and
    the SUMS of volumes with `unread`: why they do not hold.

    `unread`: cluster, group, start of the windows in which a broker that holds queues of the group was not read.
    """
    grouped = _summed(windows).join(unread.withColumn("is_unread", F.lit(True)), on=[*GROUP, "start"], how="left")
    reason = F.when(F.col("is_unread"), NOT_READ).otherwise(
        F.coalesce("lag_unknown", F.when(F.col("known") == 0, F.col("no_lag")))
    )
    is_whole = reason.isNull()
    time_lag_reason = F.when(F.col("is_unknown"), LAG_ONLY).when(F.col("is_at_least"), AT_LEAST_ONLY)
    is_read = F.col("is_unread").isNull()
    return grouped.select(
        *GROUP,
        "start",
        F.when(is_whole, F.col("lag")).alias("lag_messages"),
        F.when(is_whole & time_lag_reason.isNull(), F.col("time_lag")).alias("time_lag_seconds"),
        F.when(is_read & F.col("consumes"), F.col("consume_rate")).alias("consume_rate"),
        F.when(is_read & F.col("produces"), F.col("produce_rate")).alias("produce_rate"),
        "readings",
        F.coalesce(reason, time_lag_reason).alias("unknown_reason"),
        *SUMS,
        F.when(F.col("is_unread"), NOT_READ).alias("unread"),
    )


def _summed(windows: DataFrame) -> DataFrame:
    has_no_lag = F.coalesce(F.col("unknown_reason").isin(*NO_LAG_REASONS), F.lit(False))
    is_own = (F.col("kind") != "retry") & ~has_no_lag
    is_behind = ~has_no_lag & (F.col("lag_messages") > 0)
    marked = windows.withColumns({"has_no_lag": has_no_lag, "is_own": is_own, "is_behind": is_behind})
    own = F.col("is_own")
    return marked.groupBy(*GROUP, "start").agg(
        F.sum("lag_messages").alias("lag"),
        F.count("lag_messages").alias("known"),
        F.min(
            F.when(
                F.col("lag_messages").isNull() & ~F.col("has_no_lag"), F.coalesce("unknown_reason", F.lit("not read"))
            )
        ).alias("lag_unknown"),
        F.min(F.when(F.col("has_no_lag"), F.col("unknown_reason"))).alias("no_lag"),
        F.max(F.when(~F.col("has_no_lag"), F.col("time_lag_seconds"))).alias("time_lag"),
        F.bool_or(F.col("is_behind") & (F.col("time_lag_kind") == UNKNOWN)).alias("is_unknown"),
        F.bool_or(F.col("is_behind") & (F.col("time_lag_kind") == AT_LEAST)).alias("is_at_least"),
        F.sum(F.when(own, F.col("consume_rate"))).alias("consume_rate"),
        F.sum(F.when(own, F.col("produce_rate"))).alias("produce_rate"),
        (F.count_if(own) == F.count_if(own & F.col("consume_rate").isNotNull())).alias("consumes"),
        (F.count_if(own) == F.count_if(own & F.col("produce_rate").isNotNull())).alias("produces"),
        F.max("readings").alias("readings"),
        *volume_sums(),
    )
