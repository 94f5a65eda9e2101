"""Windows of one minute per queue: what was read in each, from the queue's array of readings and its time lags."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .durations import Durations
from .queue_arrays import MICROSECONDS, QUEUE, is_good, never_falls, seconds_between
from .time_lag import EXACT, UNKNOWN

MINUTE_US = 60 * MICROSECONDS


def queue_windows(arrays: DataFrame, since_us: int, until_us: int, durations: Durations) -> DataFrame:
    """The columns of the lake's windows, for every minute from `since` (a whole minute) with a reading before `until`.

    Offsets and lag are those of the minute's last reading; rates count from the reading before the minute.
    """
    starts = list(range(since_us, until_us, MINUTE_US))
    minutes = F.array(*[F.lit(start).cast("bigint") for start in starts])
    in_minute = F.transform(minutes, lambda start: _window(start, until_us, durations))
    rows = arrays.where(F.col("kind") != "dlq").select(*QUEUE, "kind", "lags", F.inline(in_minute))
    read = rows.where(F.size("inside") > 0)
    last, first = F.try_element_at("inside", F.lit(-1)), F.coalesce("before", F.get("inside", F.lit(0)))
    framed = read.withColumns({"last": last, "first": first})
    lag = F.when(is_good(F.col("last")), F.col("last.broker_offset") - F.col("last.consumer_offset"))
    return _columns(framed.withColumn("lag_messages", lag))


def _window(start: Column, until_us: int, durations: Durations) -> Column:
    """A minute's readings, and the one before them unless a gap lies between."""
    reach = int(3 * durations.poll_seconds * MICROSECONDS)
    end = F.least(start + MINUTE_US, F.lit(until_us))
    inside = F.filter("readings", lambda entry: (entry["at_us"] >= start) & (entry["at_us"] < end))
    before = F.filter("readings", lambda entry: (entry["at_us"] < start) & (entry["at_us"] >= start - reach))
    return F.struct(
        start.alias("start_us"), inside.alias("inside"), F.try_element_at(before, F.lit(-1)).alias("before")
    )


def _columns(framed: DataFrame) -> DataFrame:
    found = F.get(F.filter("lags", lambda lag: lag["at_us"] == F.col("last.at_us")), F.lit(0))
    is_level = F.col("lag_messages") == 0
    is_known = F.col("lag_messages").isNotNull()
    return framed.select(
        "cluster",
        F.timestamp_micros("start_us").alias("start"),
        F.lit(60).alias("step_seconds"),
        "group",
        "topic",
        "broker",
        "queue_id",
        "kind",
        "lag_messages",
        F.when(is_level, F.lit(0.0)).when(is_known, found["seconds"]).alias("time_lag_seconds"),
        F.when(is_level, EXACT).when(is_known, found["kind"]).otherwise(UNKNOWN).alias("time_lag_kind"),
        _rate("consumer_offset").alias("consume_rate"),
        _rate("broker_offset").alias("produce_rate"),
        F.size("inside").alias("readings"),
        F.col("last.reason").alias("unknown_reason"),
    )


def _rate(offset: str) -> Column:
    seconds = F.nullif(seconds_between(F.col("first.at_us"), F.col("last.at_us")), F.lit(0.0))
    values = F.concat(F.array(F.col(f"first.{offset}")), F.col(f"inside.{offset}"))
    moved = F.col(f"last.{offset}") - F.col(f"first.{offset}")
    return F.when(never_falls(values) & ~F.exists(values, lambda value: value.isNull()), moved / seconds)
