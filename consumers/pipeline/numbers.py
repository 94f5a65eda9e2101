"""The numbers of a queue's window that the rules look at, from its array of readings and its time lags.

"Window" is what lies within the span before `until`; how long an offset stood still is looked up a little further back.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .durations import Durations
from .queue_arrays import MICROSECONDS, QUEUE, is_good, never_falls, seconds_between
from .time_lag import EXACT, INTERPOLATED, UNKNOWN


def queue_numbers(arrays: DataFrame, until_us: int, durations: Durations) -> DataFrame:
    """`arrays` has readings and `lags` (null where the queue is not behind)."""
    until_us - int(durations.span_seconds * MICROSECONDS)
    # A plan in which each step names the one before: written out in one select, every array would be built again for
    # each number.
    lookback_from = until_us - int(durations.lookback_seconds * MICROSECONDS)
    looked_at = F.filter("readings", lambda entry: entry["at_us"] > lookback_from)
    # The judgement at a moment is the same, whatever range a run covered before it.
    return window_numbers(restarted(arrays.withColumn("readings", looked_at)), until_us, durations)


def window_numbers(arrays: DataFrame, until_us: int, durations: Durations) -> DataFrame:
    """`arrays` has been `restarted`."""
    window_from = until_us - int(durations.span_seconds * MICROSECONDS)
    # A plan in which each step names the one before: written out in one select, every array would be built again for
    # each number.
    steps = arrays.withColumn("good", F.filter("fresh", is_good))
    steps = steps.withColumn("window", F.filter("good", lambda entry: entry["at_us"] > window_from))
    steps = steps.withColumn("last", F.try_element_at("good", F.lit(-1)))
    steps = steps.withColumn("first", F.get("window", F.lit(0)))
    return _numbers(steps, until_us, durations)


def restarted(arrays: DataFrame) -> DataFrame:
    """Adds `seen` (broker offset known), `fallen` (where it last went back) and `fresh` (from there on)."""
    seen = arrays.withColumn("seen", F.filter("readings", lambda entry: entry["broker_offset"].isNotNull()))
    falls = F.filter(
        F.sequence(F.lit(2), F.size("seen")),
        lambda i: F.element_at("seen", i)["broker_offset"] < F.element_at("seen", i - 1)["broker_offset"],
    )
    fallen = F.when(~never_falls(F.col("seen.broker_offset")), F.element_at("seen", F.array_max(falls)))
    found = seen.withColumn("fallen", fallen)
    fresh = F.filter("readings", lambda entry: entry["at_us"] >= F.col("fallen.at_us"))
    return found.withColumn("fresh", F.when(F.col("fallen").isNull(), F.col("readings")).otherwise(fresh))


def _numbers(steps: DataFrame, until_us: int, durations: Durations) -> DataFrame:
    newest = F.try_element_at("readings", F.lit(-1))
    until = F.lit(until_us)
    window_us = F.col("window.at_us")
    raw = F.filter("readings", lambda entry: entry["at_us"] > until - int(durations.span_seconds * MICROSECONDS))
    lag = F.col("last.broker_offset") - F.col("last.consumer_offset")
    newest_lag = F.get(F.filter("lags", lambda found: found["at_us"] == F.col("last.at_us")), F.lit(0))
    is_level = lag == 0
    numbers = (
        steps.withColumn("lag_messages", lag)
        .withColumn("raw", raw.getField("at_us"))
        .withColumn("stood_us", _stood_since())
    )
    return numbers.select(
        *QUEUE,
        "kind",
        seconds_between(F.try_element_at("seen", F.lit(-1))["at_us"], until).alias("read_age_seconds"),
        seconds_between(F.col("last.at_us"), until).alias("known_age_seconds"),
        newest["reason"].alias("newest_reason"),
        seconds_between(newest["at_us"], until).alias("newest_age_seconds"),
        F.size("raw").alias("readings_seen"),
        seconds_between(F.array_min("raw"), F.array_max("raw")).alias("seen_seconds"),
        F.size("window").alias("readings_in_window"),
        seconds_between(F.col("first.at_us"), F.col("last.at_us")).alias("window_seconds"),
        F.col("last.at_us").alias("last_us"),
        F.col("fallen.at_us").alias("recreated_us"),
        F.col("fallen.broker_offset").alias("recreated_offset"),
        F.col("last.consumer_offset").alias("consumer_offset"),
        F.col("last.broker_offset").alias("broker_offset"),
        F.col("last.min_offset").alias("min_offset"),
        F.col("last.pull_offset").alias("pull_offset"),
        "lag_messages",
        F.array_max(F.col("window.consumer_offset")).alias("highest_consumer_offset"),
        _dropped_at().alias("dropped_us"),
        _skipped().alias("skipped"),
        (F.size(F.array_distinct(F.col("window.consumer_offset"))) - 1).alias("moves"),
        "stood_us",
        (F.col("stood_us") > F.get(F.col("good.at_us"), F.lit(0))).alias("has_moved"),
        seconds_between(F.col("stood_us"), F.col("last.at_us")).alias("still_seconds"),
        _rate("consumer_offset").alias("consume_rate"),
        _rate("broker_offset").alias("produce_rate"),
        F.when(is_level, F.lit(0.0)).otherwise(newest_lag["seconds"]).alias("time_lag_seconds"),
        F.when(is_level, F.lit(EXACT)).otherwise(F.coalesce(newest_lag["kind"], F.lit(UNKNOWN))).alias("time_lag_kind"),
        F.when(is_level, F.lit(0.0)).otherwise(newest_lag["error_seconds"]).alias("time_lag_error_seconds"),
        _was_within(durations).alias("was_within_allowance"),
        F.array_min(window_us).alias("window_from_us"),
    )


def _stood_since() -> Column:
    """When the newest consumer offset was first seen in one unbroken run."""
    offsets = F.col("good.consumer_offset")
    other = F.filter("good", lambda entry: entry["consumer_offset"] != F.col("last.consumer_offset"))
    run = F.filter("good", lambda entry: entry["at_us"] > F.try_element_at(other, F.lit(-1))["at_us"])
    rising = F.get(F.col("good"), (F.array_position(offsets, F.col("last.consumer_offset")) - 1).cast("int"))
    return F.when(never_falls(offsets), rising["at_us"]).otherwise(F.get(run, F.lit(0))["at_us"])


def _dropped_at() -> Column:
    """When the consumer offset was first seen below the highest of its window."""
    highest = F.array_max(F.col("window.consumer_offset"))
    top = F.filter("window", lambda entry: entry["consumer_offset"] == highest)
    after = F.filter("window", lambda entry: entry["at_us"] > F.try_element_at(top, F.lit(-1))["at_us"])
    return F.when(highest > F.col("last.consumer_offset"), F.get(after, F.lit(0))["at_us"])


def _skipped() -> Column:
    """The step, if any, in which an offset below the next reading's min offset was moved up to it or beyond."""
    steps = F.zip_with(
        F.slice("window", 1, F.greatest(F.size("window") - 1, F.lit(0))),
        F.slice("window", 2, F.size("window")),
        lambda before, after: F.struct(
            after["at_us"].alias("at_us"),
            before["consumer_offset"].alias("from_offset"),
            after["min_offset"].alias("min_offset"),
            after["consumer_offset"].alias("to_offset"),
        ),
    )
    moved_up = F.filter(
        steps,
        lambda step: (step["from_offset"] < step["min_offset"]) & (step["to_offset"] >= step["min_offset"]),
    )
    is_possible = F.array_max(F.col("window.min_offset")) > F.array_min(F.col("window.consumer_offset"))
    return F.when(is_possible, F.try_element_at(moved_up, F.lit(-1)))


def _rate(offset: str) -> Column:
    """Messages per second over the window; null where the offset went back or nothing precedes."""
    seconds = F.nullif(seconds_between(F.col("first.at_us"), F.col("last.at_us")), F.lit(0.0))
    moved = F.col(f"last.{offset}") - F.col(f"first.{offset}")
    return F.when(never_falls(F.col(f"window.{offset}")), moved / seconds)


def _was_within(durations: Durations) -> Column:
    """At some reading of the window's last third the queue was level, or behind by no more than the allowance."""
    lately = F.col("last.at_us") - int(durations.span_seconds * MICROSECONDS / 3)

    def is_level(entry: Column) -> Column:
        return (entry["at_us"] > lately) & (entry["broker_offset"] <= entry["consumer_offset"])

    def is_within(found: Column) -> Column:
        is_known = found["kind"].isin(EXACT, INTERPOLATED)
        return (found["at_us"] > lately) & is_known & (found["seconds"] <= durations.allowance_seconds)

    return F.exists("window", is_level) | F.coalesce(F.exists("lags", is_within), F.lit(False))
