"""Who held a queue after whom in a rebalance, by the clients' own answers.

A tenure is a stretch of a client's answers that hold the queue. It ends where a whole reading in between shows that the
client does not hold it, where the client has started anew, and where its offset in memory went back: it began again.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def with_tenures(queues: DataFrame) -> DataFrame:
    """Adds tenures: array of (first, last), two of `answers`, in the order of their first ones. `queues` has `seen`."""
    begun = queues.withColumn("begun", F.filter("answers", _begins))
    return begun.withColumn("tenures", F.transform("begun", _tenure)).drop("begun")


def _begins(one: Column) -> Column:
    earlier = F.filter("answers", lambda other: _is_earlier(other, one))
    before = F.try_element_at(earlier, F.lit(-1))
    has_let_go = F.exists(
        "seen",
        lambda reading: (
            (reading["at_us"] > before["at_us"])
            & (reading["at_us"] < one["at_us"])
            & ~F.array_contains(reading["owners"], one["client_id"])
        ),
    )
    is_another = (one["started_us"] != before["started_us"]) | (one["commit_offset"] < before["commit_offset"])
    return before.isNull() | has_let_go | F.coalesce(is_another, F.lit(False))


def _tenure(first: Column) -> Column:
    following = F.filter("begun", lambda other: _is_earlier(first, other))
    end = F.get(following, F.lit(0))["at_us"]
    own = F.filter(
        "answers",
        lambda one: (
            (one["client_id"] == first["client_id"])
            & (one["at_us"] >= first["at_us"])
            & F.coalesce(one["at_us"] < end, F.lit(True))
        ),
    )
    return F.struct(first.alias("first"), F.try_element_at(own, F.lit(-1)).alias("last"))


def _is_earlier(one: Column, other: Column) -> Column:
    return (one["client_id"] == other["client_id"]) & (one["at_us"] < other["at_us"])
