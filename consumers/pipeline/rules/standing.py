"""STOP and STALL: behind, and the offset does not move. Why depends on who is there to move it."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations
from consumers.pipeline.queue_arrays import seconds_between

from .rule import Rule

# Of one queue the client stops to pull above these. RocketMQ 5.4.0, DefaultMQPushConsumer: pullThresholdForQueue,
# consumeConcurrentlyMaxSpan.
PULL_THRESHOLD_MESSAGES = 1000
PULL_THRESHOLD_SPAN = 2000
FRESH_PULL_SECONDS = 60


def rules(durations: Durations) -> list[Rule]:
    stood = F.greatest(F.col("still_seconds"), seconds_between(still_since(), F.col("last_us")))
    detail = {
        "still_seconds": stood,
        "lag_messages": F.col("lag_messages"),
        "expires_in_seconds": F.col("expires_in_seconds"),
    }
    owned = {**detail, "client_id": F.col("owner"), "owners": F.col("owners"), "blocked_by": blocked_by()}
    return [
        Rule(
            "no members",
            "STOP",
            has_no_members(durations),
            {**detail, "without_members_seconds": F.col("without_members_seconds")},
            since_us=still_since(),
        ),
        Rule(
            "nobody owns the queue",
            "STALL",
            is_unowned(durations),
            {**detail, "unowned_seconds": F.col("unowned_seconds"), "members": F.col("members")},
            since_us=still_since(),
        ),
        Rule("blocked", "STALL", is_stuck(durations) & F.col("owner").isNotNull(), owned, since_us=still_since()),
        Rule(
            "still, owner unread",
            "STALL",
            is_stuck(durations),
            {**detail, "owner": why_without_owner(), "members": F.col("members")},
            since_us=still_since(),
        ),
    ]


def has_no_members(durations: Durations) -> Column:
    is_long_enough = F.col("without_members_seconds") >= durations.stop_without_members_seconds
    is_still = F.col("still_seconds") >= durations.stop_without_members_seconds
    # Pulling clients register only while they pull; each broadcasting member has progress of its own.
    may_be_away = F.col("is_pulling") | F.col("is_broadcasting") | F.col("has_unlisted_members")
    return is_long_enough & is_still & ~may_be_away


def is_unowned(durations: Durations) -> Column:
    is_long_enough = F.col("unowned_seconds") > durations.unowned_seconds
    is_still = F.col("still_seconds") >= durations.unowned_seconds
    # A retry topic is judged later than the others, whoever owns it.
    is_due = (F.col("kind") != "retry") | (F.col("still_seconds") >= durations.retry_stall_seconds)
    # Members that pop hold no queue.
    is_shared = F.col("is_broadcasting") | F.col("is_popping")
    return is_long_enough & is_still & is_due & (F.col("members") > 0) & ~is_shared


def is_stuck(durations: Durations) -> Column:
    usual = F.when(F.col("kind") == "retry", durations.retry_stall_seconds).otherwise(durations.stall_seconds)
    # A group that takes minutes for a message is slow, not stuck: three times its own usual gap between two moves.
    needed = F.greatest(usual, F.coalesce(3 * F.col("usual_gap_seconds"), F.lit(0.0)))
    was_stuck = F.coalesce(F.col("previous_state") == "STALL", F.lit(False))
    return (F.col("still_seconds") >= needed) | (was_stuck & (F.col("moves") < 2))


def why_without_owner() -> Column:
    return (
        F.when(F.col("is_popping"), "none: it pops")
        .when(F.col("has_unlisted_members"), "not listed by any broker")
        .otherwise(F.coalesce("owners_error", F.lit("not sampled")))
    )


def still_since() -> Column:
    """The last move; where it lies before what was looked at, the earlier judgement knows it better."""
    earlier = F.when(F.col("previous_state").isin("STALL", "STOP"), F.col("previous_since_us"))
    return F.when(F.col("has_moved"), F.col("stood_us")).otherwise(F.coalesce(earlier, F.col("stood_us")))


def blocked_by() -> Column:
    """As far as the history of what owners hold tells it: why a message is not finished is told by their newest words,
    which are not in it."""
    cached = F.col("cached_count")
    is_over = (cached > PULL_THRESHOLD_MESSAGES) | (F.col("cached_max") - F.col("cached_min") > PULL_THRESHOLD_SPAN)
    pulls = (F.col("last_us") - F.unix_micros("last_pull_at")) / 1e6 <= FRESH_PULL_SECONDS
    return (
        F.when(cached.isNull(), "not sampled")
        .when(F.col("orderly") & (cached > 0), "a message that is not finished, in order")
        .when(is_over, "flow control")
        .when(cached > 0, "a message that is not finished")
        .when(pulls, "suspended by the application")
        .otherwise("the owner does not pull")
    )
