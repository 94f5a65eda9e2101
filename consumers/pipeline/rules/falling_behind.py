"""WARN: the offset moves, yet the time lag rises; and what is left, behind but coming along."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations

from .rule import Rule


def rules(durations: Durations) -> list[Rule]:
    detail = {
        "lag_messages": F.col("lag_messages"),
        "time_lag_seconds": F.col("time_lag_seconds"),
        "consume_rate": F.col("consume_rate"),
        "produce_rate": F.col("produce_rate"),
        "drain_seconds": drain_seconds(),
    }
    rise = {
        "time_lag_from_seconds": F.col("trend_from_seconds"),
        "time_lag_to_seconds": F.col("trend_to_seconds"),
        "expires_in_seconds": F.col("expires_in_seconds"),
        "expiry": F.when(F.col("expires_in_seconds").isNull(), "not known"),
    }
    drains_soon = F.coalesce(drain_seconds() <= durations.warn_drain_seconds, F.lit(False))
    drains = F.coalesce(drain_seconds().isNotNull(), F.lit(False))
    return [
        Rule(
            "time lag rises",
            "WARN",
            (F.col("moves") > 0) & rises(durations) & is_far_behind(durations) & ~drains_soon,
            {**detail, **rise},
        ),
        Rule("behind, draining", "OK", drains, detail),
        Rule("behind", "OK", F.lit(True), detail),
    ]


def drain_seconds() -> Column:
    surplus = F.col("consume_rate") - F.col("produce_rate")
    return F.when(surplus > 0, F.col("lag_messages") / F.nullif(surplus, F.lit(0.0)))


def rises(durations: Durations) -> Column:
    first, last = F.col("trend_from_seconds"), F.col("trend_to_seconds")
    by_share = last > first * (1 + durations.trend_rise_share)
    by_seconds = last - first >= durations.trend_rise_seconds
    return (F.col("trend_covers_seconds") >= durations.trend_seconds) & by_share & by_seconds


def is_far_behind(durations: Durations) -> Column:
    return (F.col("time_lag_seconds") > durations.warn_time_lag_seconds) | expires_soon(durations)


def expires_soon(durations: Durations) -> Column:
    return F.coalesce(F.col("expires_in_seconds") < durations.warn_expiry_seconds, F.lit(False))
