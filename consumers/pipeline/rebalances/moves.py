"""Each queue of a group through a rebalance: who held it before, at every whole reading of it, and after.

A whole reading is one in which every listed member said what it holds; in between nobody knows.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def with_owners(queues: DataFrame) -> DataFrame:
    """Adds to what `gathered` gives: `seen`, array of (at_us, owners, is_wanted), oldest first, from before_us to the
    end of the event; before and after, arrays of client ids, null where it was not sampled."""
    seen = queues.withColumn("seen", F.transform("whole_at", _seen_at))
    return seen.withColumns({"before": _owners_at("before_us"), "after": _owners_at("after_us")})


def has_moved() -> Column:
    """Null where who held it before or after is not known."""
    return F.col("before") != F.col("after")


def _seen_at(moment: Column) -> Column:
    of_moment = F.filter("held", lambda one: one["at_us"] == moment)

    def is_there(one: Column) -> Column:
        since = F.coalesce(one["since_us"] <= moment, F.lit(True))
        return since & F.coalesce(one["until_us"] > moment, F.lit(True))

    nobody = F.array().cast("array<string>")
    return F.struct(
        moment.alias("at_us"),
        F.coalesce(F.get(of_moment, F.lit(0))["owners"], nobody).alias("owners"),
        F.exists("wanted", is_there).alias("is_wanted"),
    )


def _owners_at(name: str) -> Column:
    return F.get(F.filter("seen", lambda one: one["at_us"] == F.col(name)), F.lit(0))["owners"]
