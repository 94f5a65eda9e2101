"""How far behind a topic's queues were before a rebalance, and at most in it."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from consumers.polling.reading import NO_LAG_REASONS

NOT_READ_BEFORE = "the lag before it was not known of every queue"
NOT_READ_WITHIN = "the lag was not known of every queue at some reading of it"


def queue_lags() -> Column:
    """Of one queue: array of (at_us, lag, is_known, has_lag). A queue that nobody ever committed on has no lag."""
    return F.transform("offsets", _entry)


def topic_lags(queues: str) -> Column:
    """Of a topic, from an array of its queues' lags: array of (at_us, lag), oldest first; lag null where that of a
    queue is not known then, or where a queue has no entry though an earlier one, or where no queue has a lag."""
    times = F.array_sort(F.array_distinct(F.flatten(F.col(queues))["at_us"]))
    return F.transform(times, lambda at: F.struct(at.alias("at_us"), _sum_at(queues, at).alias("lag")))


def lag_before(lags: str) -> Column:
    """At the last reading before the event."""
    earlier = F.filter(lags, lambda one: one["at_us"] <= F.col("started_after_us"))
    return F.try_element_at(earlier, F.lit(-1))["lag"]


def lag_peak(lags: str) -> Column:
    """The highest within; null where one is not known."""
    within = F.filter(lags, lambda one: one["at_us"] >= F.col("started_before_us"))
    return F.when(~F.exists(within, lambda one: one["lag"].isNull()), F.array_max(within["lag"]))


def _entry(one: Column) -> Column:
    has_none = F.coalesce(one["reason"].isin(*NO_LAG_REASONS), F.lit(False))
    lag = F.when(one["reason"].isNull(), one["broker_offset"] - one["consumer_offset"])
    return F.struct(one["at_us"].alias("at_us"), lag.alias("lag"), (~has_none).alias("has_lag"))


def _sum_at(queues: str, at: Column) -> Column:
    there = F.filter(queues, lambda one: F.get(one, F.lit(0))["at_us"] <= at)
    of_moment = F.transform(there, lambda one: F.get(F.filter(one, lambda entry: entry["at_us"] == at), F.lit(0)))
    # A queue without an entry is not known to have no lag.
    counted = F.filter(of_moment, lambda entry: F.coalesce(entry["has_lag"], F.lit(True)))
    total = F.aggregate(counted, F.lit(0).cast("bigint"), lambda so_far, entry: so_far + entry["lag"])
    return F.when(F.size(counted) > 0, total)
