"""Windows of ten minutes from windows of one: the last minute's lag, rates only where every minute has one.

Volumes are sums of all minutes: null while one is missing.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .queue_arrays import QUEUE
from .volumes.moved import volume_reason
from .volumes.names import PART_MISSING

MINUTE = 60
LAST = ["lag_messages", "time_lag_seconds", "time_lag_kind", "unknown_reason"]


def rolled_up(windows: DataFrame, step_seconds: int) -> DataFrame:
    """The columns of the lake's windows, `step_seconds` wide."""
    start = F.timestamp_seconds(F.floor(F.unix_seconds("start") / step_seconds) * step_seconds)
    grouped = windows.groupBy(*QUEUE, "kind", start.alias("wide_start")).agg(
        F.max(F.struct("start", *LAST)).alias("last"),
        F.when(F.count("consume_rate") == F.count("*"), F.avg("consume_rate")).alias("consume_rate"),
        F.when(F.count("produce_rate") == F.count("*"), F.avg("produce_rate")).alias("produce_rate"),
        F.sum("readings").cast("int").alias("readings"),
        F.count("*").alias("minutes"),
        *[_whole_sum(name, step_seconds) for name in ("consumed", "produced")],
        F.min(F.when(F.col("consumed").isNull() | F.col("produced").isNull(), volume_reason())).alias("part_unknown"),
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
        "consumed",
        "produced",
        F.when(F.col("minutes") < step_seconds // MINUTE, PART_MISSING)
        .otherwise(F.col("part_unknown"))
        .alias("volume_unknown"),
    )


def _whole_sum(name: str, step_seconds: int) -> Column:
    """Null as soon as a minute is missing, or does not know it."""
    return F.when(F.count(name) == step_seconds // MINUTE, F.sum(name)).alias(name)
