"""What a reading positively shows to be different from before: who is in the group, and what a member says of itself.

Silence changes nothing. Offsets do not count.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from .views import is_present


def with_changes(readings: DataFrame, lookback_us: int) -> DataFrame:
    """Adds, to views.with_members:

    listed_us and listed_version_us: the full list of members before this one, and the newest change that it told of;
    null where the lookback has none. is_peopled_anew: members came or went since. said: array of (client_id, at_us,
    after_us, moved, restarted, strategy_changed, subscription_changed, touched, previous, SELF), a member's answer that
    differs from its own before; after_us: not earlier than that it changed.
    """
    at = F.col("at_us")
    # A second process under the same id is one more member, though the list of ids is the same.
    moments = [F.col("clients")[name] for name in ("seen_us", "gone_us", "doubled_us")]
    came_or_went = F.array_contains(F.concat(*moments), at)
    # The first that is seen of a group is no change, unless it is only the first for long.
    known_for_long = F.exists("clients", lambda one: one["seen_us"] < at - lookback_us)
    doubled = F.filter("clients", lambda one: is_present(one, at) & F.coalesce(one["doubled_us"] <= at, F.lit(False)))
    found = readings.withColumns(
        {
            "is_peopled_anew": came_or_went & (F.col("listed_us").isNotNull() | known_for_long),
            "doubled": doubled["client_id"],
        }
    )
    answers = F.filter(
        "answers", lambda one: one["previous"].isNotNull() & F.array_contains("members", one["client_id"])
    )
    differing = F.filter(F.transform(answers, _compared), _differs)
    return found.withColumn("said", differing).drop("doubled")


def _compared(one: Column) -> Column:
    previous = one["previous"]
    # Two processes that share an id answer in turn.
    is_single = ~F.array_contains("doubled", one["client_id"])
    return F.struct(
        one["client_id"].alias("client_id"),
        F.col("at_us"),
        _not_before(one).alias("after_us"),
        (one["queues"]["queue"] != previous["queues"]["queue"]).alias("moved"),
        # An earlier start is another process under the same id, which was there before.
        (is_single & _was(one["started_us"] > previous["started_us"])).alias("restarted"),
        _was(one["strategy"] != previous["strategy"]).alias("strategy_changed"),
        _was(one["subscription"] != previous["subscription"]).alias("subscription_changed"),
        (is_single & _was(one["sub_version_us"] != previous["sub_version_us"])).alias("touched"),
        previous.alias("previous"),
        *[one[name].alias(name) for name in ("started_us", "strategy", "subscription", "sub_version_us")],
    )


def _not_before(one: Column) -> Column:
    """The member's answer before; or a later list of members, where no broker had heard of this change by then.

    A member tells its brokers at once (RocketMQ 5.4.0, RebalancePushImpl.messageQueueChanged).
    """
    is_unheard = _was(one["sub_version_us"] > F.col("listed_version_us"))
    before = one["previous"]["at_us"]
    return F.when(is_unheard, F.greatest(before, F.col("listed_us"))).otherwise(before)


def _differs(change: Column) -> Column:
    return (
        change["moved"]
        | change["restarted"]
        | change["strategy_changed"]
        | change["subscription_changed"]
        | change["touched"]
    )


def _was(claim: Column) -> Column:
    """What was not told both times has not changed."""
    return F.coalesce(claim, F.lit(False))
