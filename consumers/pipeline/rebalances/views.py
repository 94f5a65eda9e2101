"""Who held which queue of a group, at the readings in which all of its members said so."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from consumers.pipeline.membership import GROUP
from consumers.polling.members.collect_members import BEHIND_A_PROXY

PLACE = ["topic", "broker", "queue_id"]


def with_members(readings: DataFrame, groups: DataFrame, patience_us: int) -> DataFrame:
    """`readings` (group_readings) with what the rows know of their groups (changed_groups), and:

    members: array of the client ids that brokers listed; is_told: every one of them said in this reading what it holds;
    is_whole: the same, where those that cannot be asked need not: behind a proxy, or listed for longer than the
    patience and mute. Else one hanging client would keep its group from ever settling.
    """
    found = readings.join(F.broadcast(groups), on=GROUP)
    at = F.col("at_us")
    present = F.filter("clients", lambda one: is_present(one, at))
    patiently = F.filter("clients", lambda one: one["seen_us"] <= at - patience_us)["client_id"]
    found = found.withColumn("members", F.array_sort(F.transform(present, lambda one: one["client_id"])))
    answered = F.filter("answers", lambda one: one["error"].isNull())["client_id"]
    is_mute = F.filter(
        "answers",
        lambda one: (one["error"] == BEHIND_A_PROXY) | (one["is_mute"] & F.array_contains(patiently, one["client_id"])),
    )
    silent = F.array_except("members", answered)
    # The rows and the lake are written one after the other: where they differ the reading is not written yet.
    is_listed = F.col("complete") & F.coalesce(F.size("members") == F.col("listed"), F.lit(False))
    return found.withColumns(
        {
            "is_told": is_listed & (F.size(silent) == 0),
            "is_whole": is_listed & (F.size(F.array_except(silent, is_mute["client_id"])) == 0),
        }
    )


def is_present(client: Column, at_us: Column) -> Column:
    """The interval of a member holds this moment."""
    return (client["seen_us"] <= at_us) & F.coalesce(client["gone_us"] > at_us, F.lit(True))


def wholes(readings: DataFrame) -> DataFrame:
    """cluster, group, at_us of the readings in which every member said what it holds. `readings`: with_members."""
    return readings.where("is_told").select(*GROUP, "at_us")


def views(readings: DataFrame) -> DataFrame:
    """cluster, group, at_us, topic, broker, queue_id, owners: sorted array of client ids, never empty.

    At the `wholes` only, where a queue without a row is held by nobody. `readings`: with_members.
    """
    answers = readings.where("is_told").select(*GROUP, "at_us", "members", F.explode("answers").alias("answer"))
    listed = answers.where(F.array_contains("members", F.col("answer.client_id")))
    held = listed.select(
        *GROUP, "at_us", F.col("answer.client_id").alias("client_id"), F.explode("answer.queues").alias("held")
    )
    return (
        held.select(*GROUP, "at_us", "client_id", *[F.col(f"held.{name}").alias(name) for name in PLACE])
        .groupBy(*GROUP, "at_us", *PLACE)
        .agg(F.array_sort(F.collect_set("client_id")).alias("owners"))
    )


def wanted_queues(groups: DataFrame) -> DataFrame:
    """cluster, group, topic, broker, queue_id, since_us, until_us: the queues that somebody should hold, from when to
    when (null: always). None for groups that pop; broadcasting ones must be told by their readings' message_model."""
    each = groups.where("shares_queues").select(*GROUP, F.explode("queues").alias("one"))
    # Seen in a reading of offsets, but not yet in one of the topics' configurations, which are read less often.
    is_readable = F.coalesce(F.col("one.readable"), F.col("one.first_seen_us").isNotNull())
    since = F.when(is_readable, F.greatest("one.first_seen_us", "one.readable_us")).otherwise("one.first_seen_us")
    return each.where(is_readable | F.col("one.readable_us").isNotNull()).select(
        *GROUP,
        *[F.col(f"one.{name}").alias(name) for name in PLACE],
        since.alias("since_us"),
        F.when(~is_readable, F.col("one.readable_us")).alias("until_us"),
    )
