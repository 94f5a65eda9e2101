"""What is of a kind that is not judged like the others: ghosts, progress kept elsewhere, pauses, habits, pops."""

from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations

from .falling_behind import expires_soon
from .rule import Rule


def kept_outside() -> list[Rule]:
    """Before whether there is a reading at all: none could tell."""
    return [
        Rule(
            "its progress is kept outside the brokers",
            "UNKNOWN",
            F.col("outside_store").isNotNull(),
            {"outside_store": F.col("outside_store")},
        )
    ]


def ghosts() -> list[Rule]:
    """Before anything that an offset could say."""
    return [
        Rule("ghost: nobody consumes here any more", "OK", F.col("is_ghost"), {"lag_messages": F.col("lag_messages")})
    ]


def popped() -> list[Rule]:
    """Before "caught up": an offset at the end says that all was handed out, not that it was done."""
    detail = {"lag_messages": F.col("lag_messages"), "unacked_messages": F.col("unacked_messages")}
    is_level = F.col("lag_messages") == 0
    return [Rule("popped to the end; acks are not in the offset", "OK", F.col("is_popping") & is_level, detail)]


def standing_as_meant(durations: Durations) -> list[Rule]:
    """Behind and still, and no fault: after what is lost and what is level."""
    detail = {"lag_messages": F.col("lag_messages"), "time_lag_seconds": F.col("time_lag_seconds")}
    shortest = min(durations.stop_without_members_seconds, durations.unowned_seconds, durations.stall_seconds)
    # Where how long it waits, or usually waits, is not known, it is not known to be usual either.
    is_usual = F.coalesce(F.col("time_lag_seconds") <= F.col("habit_limit_seconds"), F.lit(False))
    return [
        Rule("paused by configuration", "OK", F.col("is_paused") & (F.col("still_seconds") >= shortest), detail),
        Rule(
            "offline by habit",
            "OK",
            F.col("is_away") & is_usual & ~expires_soon(durations),
            {**detail, "usual_limit_seconds": F.col("habit_limit_seconds")},
        ),
    ]
