"""Time lag: how long ago the first unconsumed message was stored. Exact where the broker was asked for its store time;
its clock and this host's may differ a little. Else from the produced history.

Message g was stored while the broker offset passed from at most g to above g: between the last knot that does not
exceed g (the right end of a flat run) and the next one. Where the knots begin later than that, the lag is at least the
age of the oldest knot. Never an extrapolation: a rate that held once says nothing of an unseen hour.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .durations import Durations
from .kernel.numbers import AT_LEAST, EXACT, INTERPOLATED, UNKNOWN
from .queue_arrays import MICROSECONDS, TOPIC_QUEUE, never_falls, seconds_between

LAGS = "array<struct<at_us:bigint,seconds:double,kind:string,error_seconds:double>>"


def with_points(arrays: DataFrame, since_us: int) -> DataFrame:
    """`arrays` and `points`: the readings from `since` on that are behind, whose time lag is asked for."""

    def is_behind(entry: Column) -> Column:
        known = entry["reason"].isNull() & (entry["at_us"] >= since_us)
        return known & (entry["broker_offset"] > entry["consumer_offset"])

    return arrays.withColumn("points", F.filter("readings", is_behind))


def knot_arrays(knots: DataFrame) -> DataFrame:
    """cluster, topic, broker, queue_id, knots: sorted by time, from where the broker offset last went back."""
    entry = F.struct(F.unix_micros("at").alias("at_us"), "broker_offset")
    grouped = knots.groupBy(*TOPIC_QUEUE).agg(F.sort_array(F.collect_set(entry)).alias("knots"))
    falls = F.filter(
        F.sequence(F.lit(2), F.size("knots")),
        lambda i: F.element_at("knots", i)["broker_offset"] < F.element_at("knots", i - 1)["broker_offset"],
    )
    # A topic created anew counts from 0 again: what was seen before is another topic's history.
    restarted = F.slice("knots", F.array_max(falls), F.size("knots"))
    return grouped.withColumn(
        "knots", F.when(never_falls(F.col("knots.broker_offset")), F.col("knots")).otherwise(restarted)
    )


def with_time_lags(arrays: DataFrame, knots: DataFrame, durations: Durations) -> DataFrame:
    """`arrays` and `lags`: array of (at_us, seconds, kind, error_seconds), one for each of its points."""
    found = arrays.join(knot_arrays(knots), on=TOPIC_QUEUE, how="left")
    known = F.col("knots")
    # A step of its own: within one step, knots would be counted again wherever the number is used.
    placed = F.transform("points", lambda point: F.struct(point.alias("point"), _passed(point, known).alias("passed")))
    lags = F.transform(placed, lambda place: _time_lag(place["point"], known, place["passed"], durations))
    return found.withColumn("lags", lags).drop("knots")


def without_time_lags(arrays: DataFrame) -> DataFrame:
    """The same columns where no queue is behind."""
    return arrays.withColumn("lags", F.array().cast(LAGS))


def _passed(point: Column, knots: Column) -> Column:
    """How many knots lie at or before the point's consumer offset, and were seen by then."""
    at, offset = point["at_us"], point["consumer_offset"]
    passed = F.filter(knots, lambda knot: (knot["at_us"] <= at) & (knot["broker_offset"] <= offset))
    # Without any knots, size is null or, outside ANSI mode, -1.
    return F.coalesce(F.size(passed), F.lit(0))


def _time_lag(point: Column, knots: Column, passed: Column, durations: Durations) -> Column:
    at, offset = point["at_us"], point["consumer_offset"]
    left = F.get(knots, passed - 1)
    following = F.get(knots, passed)
    is_seen = following["at_us"] <= at
    right_at = F.when(is_seen, following["at_us"]).otherwise(at)
    right_offset = F.when(is_seen, following["broker_offset"]).otherwise(point["broker_offset"])
    share = (offset - left["broker_offset"]) / F.nullif(right_offset - left["broker_offset"], F.lit(0))
    stored_us = left["at_us"] + share * (right_at - left["at_us"])

    oldest = F.get(knots, F.lit(0))
    is_older = (passed <= 0) & (oldest["at_us"] < at)
    gap = F.greatest(F.lit(float(durations.poll_seconds)), seconds_between(left["at_us"], right_at))
    # A store time that is not past tells of two clocks, not of a lag.
    is_exact = F.coalesce(point["first_us"] < at, F.lit(False))
    is_inside = (passed > 0) & share.isNotNull()
    return F.struct(
        at.alias("at_us"),
        F.when(is_exact, seconds_between(point["first_us"], at))
        .when(is_inside, (at - stored_us) / MICROSECONDS)
        .when(is_older, seconds_between(oldest["at_us"], at))
        .alias("seconds"),
        F.when(is_exact, EXACT).when(is_inside, INTERPOLATED).when(is_older, AT_LEAST).otherwise(UNKNOWN).alias("kind"),
        F.when(is_exact, F.lit(float(durations.clock_error_seconds)))
        .when(is_inside, gap + durations.commit_interval_seconds)
        .alias("error_seconds"),
    )


def reaches_back() -> Column:
    """A point of this queue lies before the knots it was given, and its store time was not asked for."""
    return F.exists("lags", lambda lag: lag["kind"].isin(AT_LEAST, UNKNOWN))
