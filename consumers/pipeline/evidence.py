"""Joins what is known of groups and owners to the numbers of their queues: all that the rules ask."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .membership import GROUP, membership_evidence
from .ownership import group_ownership, queue_ownership
from .queue_arrays import QUEUE, seconds_between

KINDS = ["is_ghost", "is_paused", "is_away", "has_unlisted_members", "is_popping"]


def with_members(numbers: DataFrame, membership: DataFrame, groups: DataFrame) -> DataFrame:
    """`groups`: cluster, group, known_type and known_model from when they last had a member, and their kinds."""
    evidence = membership_evidence(membership)
    found = numbers.join(evidence, on=GROUP, how="left").join(F.broadcast(groups), on=GROUP, how="left")
    # A group without members has no type: the last known one holds.
    model = F.coalesce("message_model", "known_model")
    consume_type = F.coalesce("consume_type", "known_type")
    return found.withColumns(
        {
            "is_broadcasting": _is(model, "BROADCASTING"),
            "is_pulling": _is(consume_type, "CONSUME_ACTIVELY"),
            **{name: F.coalesce(name, F.lit(False)) for name in KINDS},
        }
    ).drop("message_model", "known_model", "consume_type", "known_type")


def with_owners(numbers: DataFrame, ownership: DataFrame, present: DataFrame) -> DataFrame:
    by_group = numbers.join(group_ownership(ownership, present), on=GROUP, how="left")
    found = by_group.join(queue_ownership(ownership, present), on=QUEUE, how="left")
    without = F.when(
        F.col("owners_known") & F.col("owner").isNull(),
        seconds_between(F.coalesce("held_us", "first_sample_us"), F.col("sample_us")),
    )
    return found.withColumn("unowned_seconds", without)


def with_previous(numbers: DataFrame, previous: DataFrame) -> DataFrame:
    """`previous`: the queue columns, previous_state, previous_since_us, of queues that stood still."""
    return numbers.join(previous, on=QUEUE, how="left")


def with_expiry(numbers: DataFrame, retention: DataFrame) -> DataFrame:
    """Adds expires_in_seconds: no sooner may the broker delete the first unconsumed message, unless its disk fills up.

    0: it may already. Null where its age, or how long the broker keeps messages, is not known. RocketMQ 5.4.0 deletes
    whole files that were last written so long ago, at the hours of `deleteWhen` (DefaultMessageStore).
    """
    found = numbers.join(F.broadcast(retention), on=["cluster", "broker"], how="left")
    left = F.greatest(F.col("reserved_seconds") - F.col("time_lag_seconds"), F.lit(0.0))
    is_known = F.col("reserved_seconds").isNotNull() & F.col("time_lag_seconds").isNotNull()
    return found.withColumn("expires_in_seconds", F.when(is_known & (F.col("lag_messages") > 0), left))


def with_trend(numbers: DataFrame, trend: DataFrame) -> DataFrame:
    return numbers.join(trend, on=QUEUE, how="left")


def _is(value: Column, name: str) -> Column:
    return F.coalesce(value == name, F.lit(False))
