"""Readings to knots: when a topic queue's broker offset was seen to change, both ends of every flat run.

A knot is also kept once an hour, so that a quiet queue has an oldest one to count "at least" from.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .queue_arrays import MICROSECONDS, TOPIC_QUEUE

HOUR_US = 3600 * MICROSECONDS


def knots(arrays: DataFrame, since_us: int, until_us: int) -> DataFrame:
    """cluster, topic, broker, queue_id, broker_offset, at, minute: of the changes seen in [since, until).

    `arrays` begin a few readings before `since`. `minute` is when the change was seen: the right end of a flat run
    lies before it, and belongs into the file of the change.
    """
    seen = F.transform(
        F.filter("readings", lambda entry: entry["broker_offset"].isNotNull()),
        lambda entry: F.struct(entry["at_us"].alias("at_us"), entry["broker_offset"].alias("broker_offset")),
    )
    # Every group of a topic saw the same broker offset in the same reading: the group that saw most of them serves.
    by_queue = arrays.select(*TOPIC_QUEUE, seen.alias("seen")).groupBy(*TOPIC_QUEUE)
    steps = _steps(by_queue.agg(F.max_by("seen", F.size("seen")).alias("seen")))
    changes = F.filter("steps", lambda step: _is_knot(step, since_us, until_us))
    rows = steps.select(*TOPIC_QUEUE, F.inline(F.flatten(F.transform(changes, _ends))))
    return rows.select(
        *TOPIC_QUEUE,
        "broker_offset",
        F.timestamp_micros("at_us").alias("at"),
        F.date_trunc("minute", F.timestamp_micros("change_us")).alias("minute"),
    )


def _steps(seen: DataFrame) -> DataFrame:
    """Each sight beside the one before it and the one before that; the first has none."""
    none = F.lit(None).cast("struct<at_us:bigint,broker_offset:bigint>")
    before = F.concat(F.array(none), F.col("seen"))
    earlier = F.concat(F.array(none, none), F.col("seen"))
    pairs = F.zip_with("seen", before, lambda sight, one: F.struct(sight.alias("sight"), one.alias("before")))
    return seen.select(
        *TOPIC_QUEUE, F.zip_with(pairs, earlier, lambda pair, one: pair.withField("earlier", one)).alias("steps")
    )


def _is_knot(step: Column, since_us: int, until_us: int) -> Column:
    at = step["sight"]["at_us"]
    is_first = step["before"].isNull()
    has_changed = step["sight"]["broker_offset"] != step["before"]["broker_offset"]
    is_hourly = F.floor(at / HOUR_US) != F.floor(step["before"]["at_us"] / HOUR_US)
    # The sequence of sights ends one before that of their predecessors.
    return step["sight"].isNotNull() & (at >= since_us) & (at < until_us) & (is_first | has_changed | is_hourly)


def _ends(step: Column) -> Column:
    at = step["sight"]["at_us"]

    def knot(sight: Column) -> Column:
        return F.struct(
            sight["at_us"].alias("at_us"), sight["broker_offset"].alias("broker_offset"), at.alias("change_us")
        )

    has_changed = step["sight"]["broker_offset"] != step["before"]["broker_offset"]
    # The end of a flat run; any other sight became a knot by its own change.
    ends_run = has_changed & F.coalesce(
        step["earlier"]["broker_offset"] == step["before"]["broker_offset"], F.lit(True)
    )
    return F.when(ends_run, F.array(knot(step["before"]), knot(step["sight"]))).otherwise(F.array(knot(step["sight"])))
