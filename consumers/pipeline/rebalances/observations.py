"""Each reading of a group as evidence: what it shows to have changed, and whether its queues are all held by one."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations
from consumers.pipeline.membership import GROUP
from consumers.pipeline.queue_arrays import MICROSECONDS
from consumers.polling.members.collect_members import BEHIND_A_PROXY

from .changes import with_changes

CLUSTERING = "CLUSTERING"
PUSH = "CONSUME_PASSIVELY"


def observations(readings: DataFrame, durations: Durations) -> DataFrame:
    """Adds, to views.with_members: is_changed, after_us (null where it is not), has_gaps, and for the causes said,
    topics, held_before, failing.

    `after_us`: the changes that it shows came later than this; null: not known. `has_gaps`: of the queues that should
    have one owner, one has none, or two, or a member has none while another has several: it may not have noticed the
    others yet. Known where is_told only, false elsewhere. `topics`: what members subscribe to
    and hold. `held_before`: texts of the queues that somebody held when all were last told; null: never.
    `failing`: array of (client_id, at_us, since_us), the failed answers of a while.
    """
    lookback_us = round(durations.rebalance_lookback_seconds * MICROSECONDS)
    by_group = Window.partitionBy(*GROUP).orderBy("at_us")
    earlier = by_group.rowsBetween(Window.unboundedPreceding, -1)
    listed = F.max(F.when(F.col("complete"), F.struct("at_us", "sub_version_us"))).over(earlier)
    found = readings.withColumn("listed", listed).withColumns(
        {"listed_us": _lately("listed.at_us", lookback_us), "listed_version_us": F.col("listed.sub_version_us")}
    )
    told = F.filter("answers", lambda one: one["error"].isNull() & F.array_contains("members", one["client_id"]))
    held = F.flatten(F.transform(told, lambda one: one["queues"]["queue"]))
    found = with_changes(found, lookback_us).withColumns({"told": told, "held": held})
    found = found.withColumn("topics", _topics())
    patience_us = round(durations.rebalance_patience_seconds * MICROSECONDS)
    return found.withColumns(
        {
            "is_changed": _is_changed(),
            "after_us": _after_us(),
            "has_gaps": F.col("is_told") & _shares_queues() & _has_gaps(),
            "held_before": F.last(F.when(F.col("is_told"), F.col("held")), ignorenulls=True).over(earlier),
            "failing": F.flatten(F.collect_list(_failing()).over(by_group.rangeBetween(-patience_us, 0))),
        }
    ).drop("listed", "told", "held")


def _lately(name: str, lookback_us: int) -> Column:
    return F.when(F.col(name) >= F.col("at_us") - lookback_us, F.col(name))


def _is_changed() -> Column:
    shows_change = F.col("is_peopled_anew") | (F.size("said") > 0)
    return F.coalesce(
        (F.col("at_us") >= F.col("since_us")) & (shows_change | (F.col("at_us") == F.col("opened_us"))), F.lit(False)
    )


def _after_us() -> Column:
    last_listed = F.array_max(F.filter("clients", lambda one: one["gone_us"] == F.col("at_us"))["last_seen_us"])
    since_listed = F.when(F.col("is_peopled_anew"), F.coalesce("listed_us", last_listed))
    return F.array_min(F.concat(F.array(since_listed), F.col("said.after_us")))


def _topics() -> Column:
    """Subscribed to or held. An expression may be of several lines: a line that begins with no topic names none."""
    lines = F.flatten(F.transform("told", lambda one: F.split(F.coalesce(one["subscription"], F.lit("")), "\n")))
    names = F.transform(lines, lambda line: F.split_part(line, F.lit(" "), F.lit(1)))
    holding = F.flatten(F.transform("told", lambda one: one["queues"]["topic"]))
    return F.array_union(F.array_intersect(names, F.col("queues")["topic"]), holding)


def _shares_queues() -> Column:
    is_shared = (F.col("message_model") == CLUSTERING) & (F.col("consume_type") == PUSH)
    return F.col("shares_queues") & F.coalesce(is_shared, F.lit(False))


def _has_gaps() -> Column:
    at = F.col("at_us")
    wanted = F.filter("queues", lambda one: F.array_contains("topics", one["topic"]) & is_readable(one, at))
    texts = F.transform(
        wanted, lambda one: F.concat_ws("\n", one["topic"], one["broker"], one["queue_id"].cast("string"))
    )
    counts = F.transform("told", lambda one: F.size(one["queues"]))
    is_idle = F.coalesce((F.array_min(counts) == 0) & (F.array_max(counts) > 1), F.lit(False))
    is_doubled = F.size("held") > F.size(F.array_distinct("held"))
    return (F.size(F.array_except(texts, "held")) > 0) | is_doubled | is_idle


def is_readable(queue: Column, at_us: Column) -> Column:
    """By the rows of the poll: of two flips of one queue the earlier is forgotten."""
    # Offsets are read more often than the topics' configurations: a queue that was seen only there is readable.
    is_so = F.coalesce(queue["readable"], queue["first_seen_us"].isNotNull())
    was_so = F.when(queue["readable_us"] > at_us, ~is_so).otherwise(is_so)
    return was_so & F.coalesce(queue["first_seen_us"] <= at_us, F.lit(True))


def _failing() -> Column:
    failed = F.filter("answers", lambda one: one["error"].isNotNull() & (one["error"] != BEHIND_A_PROXY))
    return F.transform(
        failed,
        lambda one: F.struct(
            one["client_id"].alias("client_id"), F.col("at_us"), one["failing_since_us"].alias("since_us")
        ),
    )
