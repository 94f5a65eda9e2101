"""UNKNOWN and RECREATED: whether there is enough to judge by. What the broker answered without a lag is no failure."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations
from consumers.polling.reading import NEVER_COMMITTED, NOT_REPORTED, QUEUE_GONE, TOPIC_GONE

from .rule import Rule


def rules(durations: Durations) -> list[Rule]:
    newest = F.coalesce("newest_reason", F.lit(""))

    def is_recent(age: str) -> Column:
        return F.coalesce(F.col(age) <= durations.unknown_after_seconds, F.lit(False))

    too_few = (F.col("readings_seen") < durations.provisional_readings) | (
        F.col("seen_seconds") < durations.provisional_seconds
    )
    too_few_since = (F.col("readings_in_window") < durations.provisional_readings) | (
        F.col("window_seconds") < durations.provisional_seconds
    )
    is_not_read = ~(
        is_recent("read_age_seconds") | (newest.isin(TOPIC_GONE, QUEUE_GONE) & is_recent("newest_age_seconds"))
    )
    seen = {"readings": F.col("readings_seen"), "seen_seconds": F.col("seen_seconds")}
    return [
        # A broker forgets what members of a broadcasting group report two minutes after they left (RocketMQ 5.4.0,
        # BroadcastOffsetManager). Where the broker itself is silent, what is shown says so before this.
        Rule(
            NOT_REPORTED,
            "UNKNOWN",
            is_not_read & F.col("is_broadcasting"),
            {"seconds_since_read": F.col("read_age_seconds")},
        ),
        Rule(
            "not read",
            "UNKNOWN",
            is_not_read,
            {"seconds_since_read": F.col("read_age_seconds"), "reason": F.col("newest_reason")},
        ),
        Rule("too few readings to judge", "UNKNOWN", F.coalesce(too_few, F.lit(True)), seen, is_provisional=True),
        Rule(
            "topic created anew",
            "RECREATED",
            F.col("recreated_us").isNotNull() & F.coalesce(too_few_since, F.lit(True)),
            {"broker_offset_after": F.col("recreated_offset"), "readings_since": F.col("readings_in_window")},
            since_us=F.col("recreated_us"),
        ),
        Rule(NEVER_COMMITTED, "OK", newest == NEVER_COMMITTED, seen),
        Rule(
            "the broker has no such queue",
            "OK",
            newest.isin(TOPIC_GONE, QUEUE_GONE),
            {**seen, "reason": F.col("newest_reason")},
        ),
        Rule(
            "lag not known",
            "UNKNOWN",
            ~is_recent("known_age_seconds"),
            {"seconds_since_known": F.col("known_age_seconds"), "reason": F.col("newest_reason")},
        ),
    ]
