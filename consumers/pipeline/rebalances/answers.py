"""Readings of groups with all that their members answered in them: membership and ownership of the lake put together.

Retry topics are left out, and so is a queue that its holder has already dropped. A member is compared with its own
answer before, however many readings lie between: it is asked in turn. One shuffle, by group, serves all that follows.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from consumers.pipeline.membership import GROUP
from consumers.pipeline.queue_arrays import MICROSECONDS
from consumers.rocketmq.names import RETRY_PREFIX

CLIENT = [*GROUP, "client_id"]
# What a member says of itself.
SELF = ["started_us", "strategy", "subscription", "sub_version_us"]


def group_readings(
    membership: DataFrame, ownership: DataFrame, groups: DataFrame, lookback_seconds: float
) -> DataFrame:
    """One row per group of `groups` and reading from its reach_us on: cluster, group, at_us, complete, listed (how many
    members; null unless complete), message_model, consume_type, sub_version_us, answers: array of (client_id, error,
    failing_since_us, is_mute, SELF, queues, previous).

    `queues`: array of (queue, topic, broker, queue_id, last_pull_us), where `queue` is their text. `previous`: at_us,
    SELF and queues of the member's answer before; null where none was given for the lookback. `failing_since_us`: of
    an error, the first one since the member last answered; is_mute: it has not, for the lookback.
    """
    wanted = F.broadcast(groups.select(*GROUP, "reach_us"))
    rows = _membership_rows(membership).unionByName(_ownership_rows(ownership), allowMissingColumns=True)
    kept = rows.join(wanted, on=GROUP).where(F.col("at_us") >= F.col("reach_us")).repartition(*GROUP)
    answer = F.struct("client_id", "error", "failing_since_us", "is_mute", *SELF, "queues", "previous")
    return (
        _compared(_by_client(kept), lookback_seconds)
        .groupBy(*GROUP, "at_us")
        .agg(
            *[
                F.max(name).alias(name)
                for name in ("complete", "listed", "message_model", "consume_type", "group_sub_version_us")
            ],
            F.sort_array(F.collect_list(F.when(F.col("client_id").isNotNull(), answer))).alias("answers"),
        )
        .withColumnRenamed("group_sub_version_us", "sub_version_us")
        # Running infos without the list of members say nothing of who is missing.
        .where(F.col("complete").isNotNull())
    )


def _membership_rows(membership: DataFrame) -> DataFrame:
    return membership.select(
        *GROUP,
        F.unix_micros("taken_at").alias("at_us"),
        "complete",
        F.col("members").alias("listed"),
        "message_model",
        "consume_type",
        F.unix_micros("sub_version").alias("group_sub_version_us"),
    )


def _ownership_rows(ownership: DataFrame) -> DataFrame:
    is_held = (
        F.col("topic").isNotNull()
        & ~F.coalesce(F.col("dropped"), F.lit(False))
        & ~F.coalesce(F.col("topic").startswith(RETRY_PREFIX), F.lit(False))
    )
    held = F.struct(
        queue_text("topic", "broker", "queue_id").alias("queue"),
        "topic",
        "broker",
        "queue_id",
        F.unix_micros("last_pull_at").alias("last_pull_us"),
    )
    return ownership.select(
        *CLIENT,
        F.unix_micros("taken_at").alias("at_us"),
        "error",
        F.unix_micros("started_at").alias("started_us"),
        "strategy",
        "subscription",
        F.unix_micros("sub_version").alias("sub_version_us"),
        F.when(is_held, held).alias("held"),
    )


def _by_client(rows: DataFrame) -> DataFrame:
    """One row per answer, and one without a client per list of members."""
    of_group = ("complete", "listed", "message_model", "consume_type", "group_sub_version_us")
    return rows.groupBy(*CLIENT, "at_us").agg(
        *[F.max(name).alias(name) for name in (*of_group, "error", *SELF)],
        F.sort_array(F.collect_list("held")).alias("queues"),
    )


def _compared(rows: DataFrame, lookback_seconds: float) -> DataFrame:
    """Adds `previous`, `failing_since_us` and `is_mute`."""
    by_client = Window.partitionBy(*CLIENT).orderBy("at_us")
    before = by_client.rowsBetween(Window.unboundedPreceding, -1)
    answered = F.col("client_id").isNotNull() & F.col("error").isNull()
    previous = F.last(F.when(answered, F.struct("at_us", *SELF, "queues")), ignorenulls=True).over(before)
    rows = rows.withColumns({"previous": previous, "answers_so_far": F.count(F.when(answered, 1)).over(by_client)})
    lately = F.col("previous.at_us") >= F.col("at_us") - round(lookback_seconds * MICROSECONDS)
    in_a_row = Window.partitionBy(*CLIENT, "answers_so_far")
    failing_since = F.min(F.when(F.col("error").isNotNull(), F.col("at_us"))).over(in_a_row)
    return rows.withColumns(
        {
            "previous": F.when(answered & lately, F.col("previous")),
            "failing_since_us": F.when(F.col("error").isNotNull(), failing_since),
            "is_mute": F.col("error").isNotNull() & ~F.coalesce(lately, F.lit(False)),
        }
    )


def queue_text(topic: str, broker: str, queue_id: str) -> Column:
    """One text per queue: arrays of texts are compared by hash, arrays of structs one with each other."""
    return F.concat_ws("\n", topic, broker, F.col(queue_id).cast("string"))
