"""A group's state: the worst queue of its own topics. Its retry topic is judged, and shown, apart.

The messages of its retry topic count in its time lag, as they do in its lag: they wait from when they were due.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from consumers.polling.reading import NO_LAG_REASONS

from .membership import GROUP
from .time_lag import AT_LEAST, INTERPOLATED, UNKNOWN

WORST_FIRST = ["LOSS", "STOP", "STALL", "REWIND", "WARN", "UNKNOWN", "RECREATED", "OK"]


def group_states(judged: DataFrame) -> DataFrame:
    """One row per group: the worst queue's state, rule, detail and since, completeness, time lag with its kind, rates.

    A group of which only the retry topic was read has no own queue: UNKNOWN.
    """
    grouped = _grouped(judged)
    worst = F.col("worst")
    lag = F.when(F.col("lag_known"), F.col("own_lag"))
    surplus = F.col("consume_rate") - F.col("produce_rate")
    drains = F.when((surplus > 0) & (lag > 0), lag / F.nullif(surplus, F.lit(0.0)))
    known = F.col("longest")
    # The longest of the known ones is a lower bound where another queue's time lag has no upper end.
    is_partial = known["seconds"].isNotNull() & F.col("has_open_end")
    # Another queue, whose time lag is less sure, may be the longest.
    is_rivalled = F.coalesce(F.col("longest_rival") > known["seconds"], F.lit(False))
    kind = F.when(is_rivalled, INTERPOLATED).otherwise(F.coalesce(known["kind"], F.lit(UNKNOWN)))
    return grouped.select(
        *GROUP,
        F.coalesce(worst["state"], F.lit("UNKNOWN")).alias("state"),
        F.coalesce(worst["rule"], F.lit("no queue of its own topics was read")).alias("rule"),
        worst["detail"].alias("detail"),
        worst["since"].alias("since"),
        *[worst[name].alias(f"worst_{name}") for name in ("topic", "broker", "queue_id")],
        "queues",
        F.coalesce(F.col("full") / F.nullif(F.col("queues"), F.lit(0)), F.lit(0.0)).alias("completeness"),
        known["seconds"].alias("time_lag_seconds"),
        F.when(is_partial, AT_LEAST).otherwise(kind).alias("time_lag_kind"),
        "consume_rate",
        "produce_rate",
        drains.alias("drain_seconds"),
        "retry_rate",
    )


def _grouped(judged: DataFrame) -> DataFrame:
    has_no_lag = F.coalesce(F.col("newest_reason").isin(*NO_LAG_REASONS), F.lit(False))
    rank = F.array_position(F.array(*[F.lit(state) for state in WORST_FIRST]), F.col("state"))
    marked = judged.withColumns(
        {"is_own": F.col("kind") != "retry", "has_no_lag": has_no_lag, "badness": F.lit(len(WORST_FIRST)) - rank}
    )
    is_own = F.col("is_own")
    waits = ~F.col("has_no_lag")
    counts = is_own & waits
    is_retry = F.col("kind") == "retry"
    worst = F.struct(
        "badness", "time_lag_seconds", "lag_messages", "topic", "broker", "queue_id", "state", "rule", "detail", "since"
    )
    longest = F.struct(F.col("time_lag_seconds").alias("seconds"), F.col("time_lag_kind").alias("kind"))
    rival = F.col("time_lag_seconds") + F.coalesce("time_lag_error_seconds", F.lit(0.0))
    return marked.groupBy(*GROUP).agg(
        F.max(F.when(is_own, worst)).alias("worst"),
        F.count_if(is_own).alias("queues"),
        F.count_if(is_own & F.col("has_full_window")).alias("full"),
        F.max(F.when(waits & F.col("time_lag_seconds").isNotNull(), longest)).alias("longest"),
        F.max(F.when(waits & (F.col("time_lag_kind") == INTERPOLATED), rival)).alias("longest_rival"),
        F.bool_or(waits & F.col("time_lag_kind").isin(AT_LEAST, UNKNOWN)).alias("has_open_end"),
        F.sum(F.when(counts, F.col("lag_messages"))).alias("own_lag"),
        F.every(~counts | F.col("lag_messages").isNotNull()).alias("lag_known"),
        _sum_if_whole("consume_rate", counts).alias("consume_rate"),
        _sum_if_whole("produce_rate", counts).alias("produce_rate"),
        _sum_if_whole("produce_rate", is_retry).alias("retry_rate"),
    )


def _sum_if_whole(name: str, chosen: Column) -> Column:
    """Null as soon as one of the chosen is."""
    is_whole = F.count_if(chosen) == F.count_if(chosen & F.col(name).isNotNull())
    return F.when(is_whole, F.sum(F.when(chosen, F.col(name))))
