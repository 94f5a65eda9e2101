"""Windows of one minute per queue: what was read in each, from the queue's array of readings and its time lags."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .durations import Durations
from .queue_arrays import MICROSECONDS, QUEUE, SPANS, is_good, never_falls, seconds_between
from .time_lag import EXACT, UNKNOWN
from .volumes.moved import with_volumes

MINUTE_US = 60 * MICROSECONDS


def queue_windows(arrays: DataFrame, since_us: int, until_us: int, durations: Durations) -> DataFrame:
    """The columns of the lake's windows, for every minute from `since` (a whole minute) with a reading before `until`.

    Offsets and lag are those of the minute's last reading; rates and volumes count from the reading before the minute.
    `arrays` may have `appeared_us`: when their topic was seen to appear on their broker.
    """
    read = in_windows(arrays.where(F.col("kind") != "dlq"), since_us, until_us, durations)
    framed = with_volumes(read).withColumn("first", F.coalesce("before", F.get("inside", F.lit(0))))
    lag = F.when(is_good(F.col("last")), F.col("last.broker_offset") - F.col("last.consumer_offset"))
    return _columns(framed.withColumn("lag_messages", lag))


def in_windows(arrays: DataFrame, since_us: int, until_us: int, durations: Durations) -> DataFrame:
    """A row for each queue and minute with a reading: its key, kind and lags, start_us, `inside` (the readings of the
    minute), `last` of them, `before` (the one before, unless a gap lies between), `is_new`, and `is_by_hand`: its
    offset was set meanwhile, which is no consumption."""
    if "appeared_us" not in arrays.columns:
        arrays = arrays.withColumn("appeared_us", F.lit(None).cast("array<bigint>"))
    if "hands" not in arrays.columns:
        arrays = arrays.withColumn("hands", F.lit(None).cast(SPANS))
    minutes = F.array(*[F.lit(start).cast("bigint") for start in range(since_us, until_us, MINUTE_US)])
    in_minute = F.transform(minutes, lambda start: _window(start, until_us, durations))
    kept = [name for name in (*QUEUE, "kind", "lags", "hands") if name in arrays.columns]
    rows = arrays.select(*kept, F.inline(in_minute))
    rows = rows.where(F.size("inside") > 0).withColumn("last", F.try_element_at("inside", F.lit(-1)))
    begin = F.coalesce("before", F.get("inside", F.lit(0)))["at_us"]
    touches = F.exists("hands", lambda span: (span["from_us"] < F.col("last.at_us")) & (span["to_us"] >= begin))
    return rows.withColumn("is_by_hand", F.coalesce(touches, F.lit(False))).drop("hands")


def _window(start: Column, until_us: int, durations: Durations) -> Column:
    reach = int(durations.reach_seconds * MICROSECONDS)
    end = F.least(start + MINUTE_US, F.lit(until_us))
    inside = F.filter("readings", lambda entry: (entry["at_us"] >= start) & (entry["at_us"] < end))
    before = F.filter("readings", lambda entry: (entry["at_us"] < start) & (entry["at_us"] >= start - reach))
    # The same span wherever the range of a run begins, so that every run says the same of a window.
    lookback = start - int(durations.lookback_seconds * MICROSECONDS)
    was_read = F.exists("readings", lambda entry: (entry["at_us"] < start) & (entry["at_us"] >= lookback))
    first_at = F.get(inside, F.lit(0))["at_us"]
    appeared = F.exists("appeared_us", lambda at: (at >= lookback) & (at <= first_at))
    return F.struct(
        start.alias("start_us"),
        inside.alias("inside"),
        F.try_element_at(before, F.lit(-1)).alias("before"),
        F.coalesce(appeared & ~was_read, F.lit(False)).alias("is_new"),
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
        F.when(~F.col("is_by_hand"), _rate("consumer_offset")).alias("consume_rate"),
        _rate("broker_offset").alias("produce_rate"),
        F.size("inside").alias("readings"),
        F.col("last.reason").alias("unknown_reason"),
        "consumed",
        "produced",
        "volume_unknown",
    )


def _rate(offset: str) -> Column:
    seconds = F.nullif(seconds_between(F.col("first.at_us"), F.col("last.at_us")), F.lit(0.0))
    values = F.concat(F.array(F.col(f"first.{offset}")), F.col(f"inside.{offset}"))
    moved = F.col(f"last.{offset}") - F.col(f"first.{offset}")
    return F.when(never_falls(values) & ~F.exists(values, lambda value: value.isNull()), moved / seconds)
