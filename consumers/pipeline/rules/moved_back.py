"""REWIND: the consumer offset went back and has not regained. Looked at before "caught up", which it may also be."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations
from consumers.pipeline.queue_arrays import seconds_between

from .rule import Rule


def rules(durations: Durations) -> list[Rule]:
    return [
        Rule(
            "offset went back",
            "REWIND",
            went_back() & ~F.coalesce(is_replay(durations), F.lit(False)),
            {
                "from_offset": F.col("highest_consumer_offset"),
                "to_offset": F.col("consumer_offset"),
                "missing_messages": F.col("highest_consumer_offset") - F.col("consumer_offset"),
                "lag_messages": F.col("lag_messages"),
                "client_id": F.col("owner"),
            },
            since_us=F.col("dropped_us"),
        )
    ]


def went_back() -> Column:
    return F.col("highest_consumer_offset") > F.col("consumer_offset")


def is_replay(durations: Durations) -> Column:
    """An owner's successor begins at what was committed: no further back than what was in flight."""
    apart = F.abs(seconds_between(F.col("owner_changed_us"), F.col("dropped_us")))
    back = F.col("highest_consumer_offset") - F.col("consumer_offset")
    return (apart <= durations.replay_after_move_seconds) & (back <= F.col("in_flight_seen"))
