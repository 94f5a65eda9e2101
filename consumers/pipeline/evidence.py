"""Joins what is known of groups and owners to their queues: all that the rules ask beside the readings."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .membership import GROUP, membership_evidence
from .ownership import group_ownership, queue_ownership
from .queue_arrays import QUEUE, seconds_between
from .trend import minute_arrays

KINDS = ["is_ghost", "is_paused", "is_away", "has_unlisted_members", "is_popping"]


def with_members(queues: DataFrame, membership: DataFrame, groups: DataFrame) -> DataFrame:
    """`groups`: cluster, group, known_type and known_model from when they last had a member, and their kinds."""
    evidence = membership_evidence(membership)
    found = queues.join(evidence, on=GROUP, how="left").join(F.broadcast(groups), on=GROUP, how="left")
    # A group without members has no type: the last known one holds.
    model = F.coalesce("message_model", "known_model")
    consume_type = F.coalesce("consume_type", "known_type")
    return found.withColumns(
        {
            "is_broadcasting": _is(model, "BROADCASTING"),
            "is_pulling": _is(consume_type, "CONSUME_ACTIVELY"),
            **{name: F.coalesce(name, F.lit(False)) for name in KINDS},
            # Members of a proxy move offsets though no broker lists them.
            "empty_since_us": F.when(~F.coalesce("has_unlisted_members", F.lit(False)), F.col("empty_since_us")),
        }
    ).drop("message_model", "known_model", "consume_type", "known_type")


def with_owners(queues: DataFrame, ownership: DataFrame, present: DataFrame) -> DataFrame:
    by_group = queues.join(group_ownership(ownership, present), on=GROUP, how="left")
    found = by_group.join(queue_ownership(ownership, present), on=QUEUE, how="left")
    without = F.when(
        F.col("owners_known") & F.col("owner").isNull(),
        seconds_between(F.coalesce("held_us", "first_sample_us"), F.col("sample_us")),
    )
    return found.withColumn("unowned_seconds", without)


def with_known(queues: DataFrame, previous: DataFrame, lost: DataFrame) -> DataFrame:
    """`previous`: previous_state and previous_since_us of queues that stood still. `lost`: lost_offset and lost_us of
    those whose offset is gone. Both by queue."""
    return queues.join(previous, on=QUEUE, how="left").join(F.broadcast(lost), on=QUEUE, how="left")


def with_retention(queues: DataFrame, retention: DataFrame) -> DataFrame:
    """Adds reserved_seconds: how long its broker keeps messages."""
    return queues.join(F.broadcast(retention), on=["cluster", "broker"], how="left")


def with_minutes(queues: DataFrame, windows: DataFrame) -> DataFrame:
    """Adds `minutes`, the queue's windows of the trend."""
    return queues.join(minute_arrays(windows), on=QUEUE, how="left")


def _is(value: Column, name: str) -> Column:
    return F.coalesce(value == name, F.lit(False))
