"""Windows of ten minutes from windows of one: the last minute's lag, and rates only where every minute has one."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .queue_arrays import QUEUE

LAST = ["lag_messages", "time_lag_seconds", "time_lag_kind", "unknown_reason"]


def rolled_up(windows: DataFrame, step_seconds: int) -> DataFrame:
    """The columns of the lake's windows, `step_seconds` wide."""
    start = F.timestamp_seconds(F.floor(F.unix_seconds("start") / step_seconds) * step_seconds)
    grouped = windows.groupBy(*QUEUE, "kind", start.alias("wide_start")).agg(
        F.max(F.struct("start", *LAST)).alias("last"),
        F.when(F.count("consume_rate") == F.count("*"), F.avg("consume_rate")).alias("consume_rate"),
        F.when(F.count("produce_rate") == F.count("*"), F.avg("produce_rate")).alias("produce_rate"),
        F.sum("readings").cast("int").alias("readings"),
    )
    return grouped.select(
        "cluster",
        F.col("wide_start").alias("start"),
        F.lit(step_seconds).alias("step_seconds"),
        "group",
        "topic",
        "broker",
        "queue_id",
        "kind",
        *[F.col(f"last.{name}").alias(name) for name in LAST[:3]],
        "consume_rate",
        "produce_rate",
        "readings",
        F.col("last.unknown_reason").alias("unknown_reason"),
    )
