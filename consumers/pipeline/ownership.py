"""What the members' own running info proves: who holds a queue, since when nobody does, what its owner does.

A member is asked in turn, so each one's newest answer counts, and only members that are still listed.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from .membership import GROUP
from .queue_arrays import QUEUE

OWNER_COLUMNS = [
    "cached_min",
    "cached_max",
    "cached_count",
    "orderly",
    "last_pull_at",
    "last_consume_at",
    "last_lock_at",
]


def group_ownership(ownership: DataFrame, present: DataFrame) -> DataFrame:
    """cluster, group, owners_known, owners_error, first_sample_us, sample_us.

    `present`: cluster, group, client_id of the listed members. `owners_known`: every one of them has answered.
    """
    newest = (
        _newest_answers(ownership)
        .groupBy(*GROUP, "client_id")
        .agg(F.max("error").alias("error"), F.max("taken_at").alias("taken_at"))
    )
    listed = present.join(newest, on=[*GROUP, "client_id"], how="left")
    by_group = listed.groupBy(*GROUP).agg(
        F.every(F.col("taken_at").isNotNull() & F.col("error").isNull()).alias("owners_known"),
        F.max("error").alias("owners_error"),
        # A queue is known to have no owner only from when the last of them answered.
        F.max(F.unix_micros("taken_at")).alias("sample_us"),
    )
    first = ownership.groupBy(*GROUP).agg(F.min(F.unix_micros("taken_at")).alias("first_sample_us"))
    return by_group.join(first, on=GROUP, how="left")


def queue_ownership(ownership: DataFrame, present: DataFrame) -> DataFrame:
    """The queue columns, owner, owners, held_us, owner_changed_us, in_flight_seen, and what the owner says of it.

    `held_us`: when anyone was last seen to hold it. `owner` null: none of the listed members' newest answers names it.
    """
    holding = ownership.where(F.col("topic").isNotNull() & ~F.coalesce(F.col("dropped"), F.lit(False)))
    listed = _newest_answers(ownership).join(present, on=[*GROUP, "client_id"], how="left_semi")
    current = listed.where(F.col("topic").isNotNull() & ~F.coalesce(F.col("dropped"), F.lit(False)))
    latest = F.struct("taken_at", "client_id", *OWNER_COLUMNS)
    owners = current.groupBy(*QUEUE).agg(F.max(latest).alias("latest"), F.count_distinct("client_id").alias("owners"))
    history = holding.groupBy(*QUEUE).agg(
        F.max(F.unix_micros("taken_at")).alias("held_us"),
        F.max(F.col("cached_max") + 1 - F.col("commit_offset")).alias("in_flight_seen"),
        F.sort_array(F.collect_list(F.struct(F.unix_micros("taken_at").alias("at_us"), "client_id"))).alias("holders"),
    )
    found = history.join(owners, on=QUEUE, how="left")
    of_another = F.filter("holders", lambda one: one["client_id"] != F.col("latest.client_id"))
    last_of_another = F.try_element_at(of_another, F.lit(-1))["at_us"]
    own_again = F.filter("holders", lambda one: one["at_us"] > last_of_another)
    return found.select(
        *QUEUE,
        F.col("latest.client_id").alias("owner"),
        "owners",
        "held_us",
        "in_flight_seen",
        F.get(own_again, F.lit(0))["at_us"].alias("owner_changed_us"),
        *[F.col(f"latest.{name}").alias(name) for name in OWNER_COLUMNS],
    )


def _newest_answers(ownership: DataFrame) -> DataFrame:
    by_client = Window.partitionBy(*GROUP, "client_id").rowsBetween(
        Window.unboundedPreceding, Window.unboundedFollowing
    )
    newest = ownership.withColumn("newest_at", F.max("taken_at").over(by_client))
    return newest.where(F.col("taken_at") == F.col("newest_at")).drop("newest_at")
