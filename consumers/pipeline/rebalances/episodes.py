"""Rebalances that follow each other closely, as one episode: a rollout, or a group that does not come to rest."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations
from consumers.pipeline.membership import GROUP
from consumers.pipeline.queue_arrays import MICROSECONDS


def with_episodes(events: DataFrame, durations: Durations) -> DataFrame:
    """Adds episode_us and rollout; `events` is what events gives.

    episode_us: the key of the first rebalance of those in a row, the stored one before among them, with less than
    `rebalance_merge_seconds` between the end of one and the start of the next. rollout: every member that is there
    after it has started, by its own clock, since the last reading before that episode.
    """
    merge_us = round(durations.rebalance_merge_seconds * MICROSECONDS)
    by_group = Window.partitionBy(*GROUP).orderBy("started_before_us")
    until_this = by_group.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ended = F.lag(F.coalesce("settled_us", "last_change_us")).over(by_group)
    gap = F.col("started_before_us") - F.coalesce(ended, F.col("episode_end_us"))
    found = events.withColumn("is_first", F.coalesce(gap >= merge_us, F.lit(True)))
    own = F.struct(F.col("started_before_us").alias("began_us"), F.col("started_after_us").alias("after_us"))
    stored = F.struct(F.col("episode_us").alias("began_us"), F.col("episode_after_us").alias("after_us"))
    first = F.last(F.when(F.col("is_first"), own), ignorenulls=True).over(until_this)
    found = found.withColumn("episode", F.coalesce(first, stored))
    return found.withColumns(
        {"episode_us": F.col("episode.began_us"), "rollout": _all_started_since(F.col("episode.after_us"))}
    ).drop("is_first", "episode", "episode_end_us", "episode_after_us")


def _all_started_since(after_us: Column) -> Column:
    last = F.coalesce("settled_us", "end_us")
    present = F.filter("clients", lambda one: (one["seen_us"] <= last) & F.coalesce(one["gone_us"] > last, F.lit(True)))
    all_started = F.forall(present, lambda one: F.coalesce(one["started_us"] > after_us, F.lit(False)))
    return (F.size(present) > 0) & all_started
