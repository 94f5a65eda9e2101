"""What the answers to "who is in the group?" prove: how many members, and for how long it had none."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .queue_arrays import seconds_between

GROUP = ["cluster", "group"]


def membership_evidence(membership: DataFrame) -> DataFrame:
    """cluster, group, members, without_members_seconds, empty_since_us, consume_type, message_model.

    `members` is that of the newest full answer. `without_members_seconds` lies between the first and the last of at
    least two full answers in a row without any member, `empty_since_us` is the first of them; null where the newest
    full answer has one.
    """
    is_full = F.col("complete") & F.col("members").isNotNull()
    answer = F.struct(F.unix_micros("taken_at").alias("at_us"), "members")
    grouped = membership.groupBy(*GROUP).agg(
        F.sort_array(F.collect_list(F.when(is_full, answer))).alias("answers"),
        F.max_by(F.when(F.col("consume_type").isNotNull(), F.col("consume_type")), _known_at("consume_type")).alias(
            "consume_type"
        ),
        F.max_by(F.when(F.col("message_model").isNotNull(), F.col("message_model")), _known_at("message_model")).alias(
            "message_model"
        ),
    )
    peopled = F.filter("answers", lambda one: one["members"] > 0)
    last_peopled = F.coalesce(F.try_element_at(peopled, F.lit(-1))["at_us"], F.lit(0))
    empty = F.filter("answers", lambda one: one["at_us"] > last_peopled)
    return grouped.withColumn("empty", empty).select(
        *GROUP,
        F.try_element_at("answers", F.lit(-1))["members"].alias("members"),
        F.when(
            F.size("empty") > 1,
            seconds_between(F.get("empty", F.lit(0))["at_us"], F.try_element_at("empty", F.lit(-1))["at_us"]),
        ).alias("without_members_seconds"),
        F.get("empty", F.lit(0))["at_us"].alias("empty_since_us"),
        "consume_type",
        "message_model",
    )


def _known_at(name: str) -> Column:
    return F.when(F.col(name).isNotNull(), F.col("taken_at"))
