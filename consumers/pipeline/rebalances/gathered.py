"""All that is known of each queue in each rebalance in one row: one shuffle serves all that follows."""

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from consumers.pipeline.membership import GROUP
from consumers.pipeline.queue_arrays import MICROSECONDS
from consumers.rocketmq.names import RETRY_PREFIX

EVENT = [*GROUP, "started_before_us"]
PLACE = ["topic", "broker", "queue_id"]
OF_EVENT = ["started_after_us", "end_us", "is_broadcasting", "before_us", "after_us", "whole_at"]
# How long before it offsets are looked at, so that how fast a queue was consumed can be told.
REACH_SECONDS = 60


def with_bounds(events: DataFrame, wholes: DataFrame) -> DataFrame:
    """Adds before_us and after_us, the whole readings between which queues moved, null where there is none; whole_at:
    the times of all whole readings between, both included.

    `wholes`: cluster, group, at_us of whole readings, as views.wholes gives them.
    """
    at = F.col("at_us")
    times = (
        F.broadcast(events.select(*EVENT, "started_after_us", "end_us"))
        .join(wholes, on=GROUP)
        .where(at <= F.col("end_us"))
        .groupBy(*EVENT)
        .agg(
            F.max(F.when(at <= F.col("started_after_us"), at)).alias("before_us"),
            F.max(F.when(at >= F.col("started_before_us"), at)).alias("after_us"),
            F.sort_array(F.collect_list(at)).alias("all_at"),
        )
    )
    first = F.coalesce("before_us", "started_before_us")
    whole_at = F.filter(F.coalesce("all_at", F.array().cast("array<bigint>")), lambda one: one >= first)
    return events.join(times, on=EVENT, how="left").withColumn("whole_at", whole_at).drop("all_at")


def gathered(
    bounded: DataFrame,
    views: DataFrame,
    queues: DataFrame,
    subscribed: DataFrame,
    ownership: DataFrame,
    readings: DataFrame,
    last_owners: DataFrame,
) -> DataFrame:
    """The columns of `bounded` (events with_bounds) and of the queue; held, wanted, answers, offsets, earlier: arrays
    of structs, oldest first. A topic that is only subscribed to has a row without broker and queue_id; retry topics
    have none.

    `views`, `queues`: views() and wanted_queues() of views.py. `subscribed`: cluster, group, topic. `ownership`,
    `readings`: of the lake. `last_owners`: of last_owners.py; `earlier` holds its row, as one of `answers`.
    """
    parts = {
        "held": views.select(*GROUP, *PLACE, F.struct("at_us", "owners").alias("held")),
        "wanted": queues.select(*GROUP, *PLACE, F.struct("since_us", "until_us").alias("wanted")),
        "answers": _answers(ownership),
        "offsets": _offsets(readings),
        "earlier": last_owners.select(*GROUP, *PLACE, "event_us", _last_answer().alias("earlier")),
    }
    named = subscribed.select(*GROUP, "topic", F.lit(None).cast("string").alias("broker"))
    rows = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), [*parts.values(), named])
    return (
        F.broadcast(bounded.select(*EVENT, *OF_EVENT))
        .join(rows.where(~F.col("topic").startswith(RETRY_PREFIX)), on=GROUP)
        .where(_is_within())
        .groupBy(*EVENT, *PLACE)
        .agg(
            *[F.first(name).alias(name) for name in OF_EVENT],
            *[F.sort_array(F.collect_list(name)).alias(name) for name in parts],
        )
    )


def _answers(ownership: DataFrame) -> DataFrame:
    holds = F.col("topic").isNotNull() & ~F.coalesce(F.col("dropped"), F.lit(False))
    said = F.struct(
        F.unix_micros("taken_at").alias("at_us"),
        "client_id",
        F.unix_micros("started_at").alias("started_us"),
        "commit_offset",
        "cached_min",
        "cached_max",
    )
    return ownership.where(holds & F.col("error").isNull()).select(*GROUP, *PLACE, said.alias("answers"))


def _last_answer() -> Column:
    said = ("commit_offset", "cached_min", "cached_max")
    return F.struct("at_us", "client_id", F.lit(None).cast("bigint").alias("started_us"), *said)


def _offsets(readings: DataFrame) -> DataFrame:
    told = F.struct(
        F.unix_micros("taken_at").alias("at_us"),
        "consumer_offset",
        "broker_offset",
        F.col("unknown_reason").alias("reason"),
    )
    return readings.where(F.col("kind") != "dlq").select(*GROUP, *PLACE, told.alias("offsets"))


def _is_within() -> Column:
    first = F.coalesce("before_us", "started_before_us")
    reach = F.coalesce("before_us", "started_after_us", "started_before_us") - REACH_SECONDS * MICROSECONDS
    at = F.coalesce("held.at_us", "answers.at_us")
    is_within: Column = at.between(first, F.col("end_us")) | F.col("offsets.at_us").between(reach, F.col("end_us"))
    is_timeless = F.coalesce(at, F.col("offsets.at_us"), F.col("event_us")).isNull()
    is_within |= F.col("event_us") == F.col("started_before_us")
    return is_timeless | F.coalesce(is_within, F.lit(False))
