"""Volumes of a group from those of its queues: one queue's that is not known makes the group's unknown.

into_retry and out_of_retry are sums over its retry topics under any of their names, consumed over its own topics.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from consumers.pipeline.membership import GROUP
from consumers.polling.reading import NEVER_COMMITTED

from .moved import volume_reason
from .names import DEAD_LETTERS_UNREAD, NO_OWN_QUEUE, NOT_ASKED, RETRY_UNREAD

OF_WINDOW = [*GROUP, "start"]
SUMS = ["retry_queues", "own_queues", "never_committed", "retry_in", "retry_out", "own_out"]


def volume_sums() -> list[Column]:
    """Aggregates over the windows of a group's queues, named as SUMS."""
    is_retry = F.col("kind") == "retry"
    never = F.coalesce(F.col("unknown_reason") == NEVER_COMMITTED, F.lit(False))
    return [
        F.count_if(is_retry).alias("retry_queues"),
        F.count_if(~is_retry).alias("own_queues"),
        F.count_if(~is_retry & never).alias("never_committed"),
        _sum("produced", is_retry).alias("retry_in"),
        _sum("consumed", is_retry).alias("retry_out"),
        _sum("consumed", ~is_retry).alias("own_out"),
    ]


def _sum(name: str, chosen: Column) -> Column:
    """The sum, and in its place the reason where a part of it is not known."""
    unknown = F.min(F.when(chosen & F.col(name).isNull(), volume_reason()))
    return F.struct(F.sum(F.when(chosen, F.col(name))).alias("messages"), unknown.alias("unknown"))


def dead_letter_sums(windows: DataFrame) -> DataFrame:
    """cluster, group, start, `dead`, from the windows of dead-letter queues."""
    start = F.timestamp_micros("start_us").alias("start")
    return windows.groupBy(*GROUP, start).agg(_sum("produced", F.lit(True)).alias("dead"))


def group_volumes(windows: DataFrame, dead: DataFrame, topics: DataFrame) -> DataFrame:
    """`windows` of groups with SUMS and the reason `unread`, null where every broker of the group was read; without the
    SUMS, and with each of VOLUMES and {volume}_unknown, its reason.

    `dead` as of dead_letter_sums. `topics`: cluster, group, has_retry, has_dead, null where that was not asked.
    """
    beside = windows.join(dead, on=OF_WINDOW, how="left").join(F.broadcast(topics), on=GROUP, how="left")
    no_retry = F.col("retry_queues") == 0
    no_own = F.when(F.col("own_queues") == 0, NO_OWN_QUEUE)
    own_unknown = F.when(F.col("own_queues") == F.col("never_committed"), NEVER_COMMITTED)
    parts = {
        "into_retry": _or_none("retry_in", no_retry, F.col("has_retry"), RETRY_UNREAD),
        "out_of_retry": _or_none("retry_out", no_retry, F.col("has_retry"), RETRY_UNREAD),
        "into_dlq": _or_none("dead", F.col("dead").isNull(), F.col("has_dead"), DEAD_LETTERS_UNREAD),
        "consumed": (F.col("own_out.messages"), F.coalesce(no_own, own_unknown, F.col("own_out.unknown"))),
    }
    columns: dict[str, Column] = {}
    for name, (messages, reason) in parts.items():
        unknown = F.coalesce(F.col("unread"), reason)
        columns |= {name: F.when(unknown.isNull(), messages), f"{name}_unknown": unknown}
    left = [name for name in windows.columns if name not in (*SUMS, "unread")]
    return beside.withColumns(columns).select(*left, *columns)


def _or_none(name: str, is_missing: Column, has_topic: Column, not_read: str) -> tuple[Column, Column]:
    """Messages and reason. Nothing goes into a topic that no broker has: that is known of a group, or not."""
    messages = F.when(is_missing, F.lit(0).cast("bigint")).otherwise(F.col(name)["messages"])
    absent = F.when(has_topic.isNull(), NOT_ASKED).when(has_topic, not_read)
    return messages, F.when(is_missing, absent).otherwise(F.col(name)["unknown"])
