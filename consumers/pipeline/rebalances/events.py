"""Rebalances out of the readings of a group: from the first that shows a change until two whole ones in a row agree.

While a queue that should be held has no owner, or two, agreement is not believed before some patience since the last
change: locks of orderly members last 60 s, and members look for new queues every 30 s.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations
from consumers.pipeline.membership import GROUP
from consumers.pipeline.queue_arrays import MICROSECONDS

from .views import is_present

FIRST_OF_GROUP = ["clients", "queues", "brokers", "shares_queues", "episode_end_us", "episode_us", "episode_after_us"]


def events(observed: DataFrame, durations: Durations) -> DataFrame:
    """One row per rebalance that begins where changes count (since_us of the group), oldest readings first:

    cluster, group, started_after_us (null: no reading before it is known), started_before_us (the first reading that
    shows a change: its key), last_change_us, settled_us (the first of the two that agree; null: not yet, or it was cut
    or given up), end_us (the newest reading that belongs to it), polls (readings up to settled_us, else to end_us),
    client_ids_before and client_ids_after: sorted arrays (before: null where started_after_us is); and for the causes
    FIRST_OF_GROUP, said, topics, held_before, failing, versions.
    `observed`: what observations gives.
    """
    longest_us = round(durations.rebalance_longest_seconds * MICROSECONDS)
    runs = _cut(_runs(_over(observed, durations, longest_us), longest_us), longest_us)
    return _with_ends(_summed(runs))


def _over(observed: DataFrame, durations: Durations, longest_us: int) -> DataFrame:
    """Adds last_change_us (this reading's included), is_agreed and is_over."""
    by_group = Window.partitionBy(*GROUP).orderBy("at_us")
    until_this = by_group.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    earlier = by_group.rowsBetween(Window.unboundedPreceding, -1)
    at = F.col("at_us")
    found = observed.withColumns(
        {
            "last_change_us": F.max(F.when(F.col("is_changed"), at)).over(until_this),
            "change_before_us": F.max(F.when(F.col("is_changed"), at)).over(earlier),
            "whole_before_us": F.max(F.when(F.col("is_whole"), at)).over(earlier),
        }
    )
    patience_us = round(durations.rebalance_patience_seconds * MICROSECONDS)
    age = at - F.col("last_change_us")
    agrees = F.col("is_whole") & ~F.col("is_changed") & (F.col("whole_before_us") >= F.col("last_change_us"))
    is_believed = ~F.col("has_gaps") | (age >= patience_us)
    is_given_up = F.coalesce(age >= longest_us, F.lit(False))
    is_agreed = F.coalesce(agrees & is_believed, F.lit(False)) & ~is_given_up
    return found.withColumns({"is_agreed": is_agreed, "is_over": is_agreed | is_given_up})


def _runs(found: DataFrame, longest_us: int) -> DataFrame:
    """The readings that belong to a run of changes, with run_us, the first of it."""
    by_group = Window.partitionBy(*GROUP).orderBy("at_us")
    until_this = by_group.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    earlier = by_group.rowsBetween(Window.unboundedPreceding, -1)
    at, before = F.col("at_us"), F.col("change_before_us")
    found = found.withColumn("over_before_us", F.max(F.when(F.col("is_over"), at)).over(earlier))
    begins = F.col("is_changed") & F.coalesce(
        (F.col("over_before_us") > before) | (at - before >= longest_us), F.lit(False) | before.isNull()
    )
    found = found.withColumn("run_us", F.max(F.when(begins, at)).over(until_this))
    is_within = F.coalesce(F.col("over_before_us") < F.col("run_us"), F.lit(True))
    return found.where(F.col("run_us").isNotNull() & is_within & (F.col("is_agreed") | ~F.col("is_over")))


def _cut(runs: DataFrame, longest_us: int) -> DataFrame:
    """Adds started_before_us: a run that lasts too long goes on as another rebalance at its next change."""
    of_run = Window.partitionBy(*GROUP, "run_us")
    changes = F.array_sort(F.collect_list(F.when(F.col("is_changed"), F.col("at_us"))).over(of_run))
    starts = F.aggregate(
        changes,
        F.array().cast("array<bigint>"),
        lambda so_far, at: F.when(
            F.size(F.filter(so_far, lambda start: at - start < longest_us)) == 0, F.array_append(so_far, at)
        ).otherwise(so_far),
    )
    begun = runs.withColumn("starts", starts)
    own = F.array_max(F.filter("starts", lambda start: start <= F.col("at_us")))
    return begun.withColumn("started_before_us", own).drop("starts")


def _summed(runs: DataFrame) -> DataFrame:
    at, is_first = F.col("at_us"), F.col("at_us") == F.col("started_before_us")
    return runs.groupBy(*GROUP, "started_before_us").agg(
        F.min(F.when(is_first, F.col("after_us"))).alias("started_after_us"),
        F.max(F.when(F.col("is_changed"), at)).alias("last_change_us"),
        F.max(at).alias("end_us"),
        F.max("is_agreed").alias("is_settled"),
        F.collect_list(at).alias("readings_us"),
        F.collect_list(F.when(F.col("is_whole"), at)).alias("wholes_us"),
        *[F.first(name).alias(name) for name in FIRST_OF_GROUP],
        F.flatten(F.collect_list("said")).alias("said"),
        F.array_distinct(F.flatten(F.collect_list("topics"))).alias("topics"),
        F.first(F.when(is_first, F.col("held_before")), ignorenulls=True).alias("held_before"),
        F.flatten(F.collect_list("failing")).alias("failing"),
        F.flatten(F.collect_list("answers.sub_version_us")).alias("versions"),
    )


def _with_ends(summed: DataFrame) -> DataFrame:
    agreed = F.array_min(F.filter("wholes_us", lambda at: at >= F.col("last_change_us")))
    found = summed.withColumn("settled_us", F.when(F.col("is_settled"), agreed))
    last = F.coalesce("settled_us", "end_us")
    return found.withColumns(
        {
            "polls": F.size(F.filter("readings_us", lambda at: at <= last)),
            "client_ids_before": F.when(F.col("started_after_us").isNotNull(), _ids(F.col("started_after_us"))),
            "client_ids_after": _ids(last),
        }
    ).drop("is_settled", "readings_us", "wholes_us")


def _ids(at_us: Column) -> Column:
    present = F.filter("clients", lambda one: is_present(one, at_us))
    return F.array_sort(F.array_distinct(F.transform(present, lambda one: one["client_id"])))
