"""OK: level with the broker, or behind by no more time than is allowed, now or a moment ago."""

from pyspark.sql import functions as F

from consumers.pipeline.durations import Durations
from consumers.pipeline.time_lag import EXACT, INTERPOLATED

from .rule import Rule


def rules(durations: Durations) -> list[Rule]:
    # "At least" has no upper end: only a known time lag can be within the allowance.
    is_known = F.col("time_lag_kind").isin(EXACT, INTERPOLATED)
    detail = {
        "lag_messages": F.col("lag_messages"),
        "time_lag_seconds": F.col("time_lag_seconds"),
        "allowance_seconds": F.lit(durations.allowance_seconds),
    }
    return [
        Rule("caught up", "OK", F.col("lag_messages") == 0, {"lag_messages": F.col("lag_messages")}),
        Rule(
            "within the allowance", "OK", is_known & (F.col("time_lag_seconds") <= durations.allowance_seconds), detail
        ),
        Rule("within the allowance a moment ago", "OK", F.col("was_within_allowance"), detail),
    ]
