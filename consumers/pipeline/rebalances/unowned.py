"""For how long a queue had no owner, or more than one, in a rebalance: as whole readings sampled it, with both bounds.

A reading counts until the next one. At least: between readings that both showed it; at most: between two of which
either did.
"""

from collections.abc import Callable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from consumers.pipeline.queue_arrays import MICROSECONDS

KINDS = ["unowned", "doubly_owned"]


def with_lapses(queues: DataFrame) -> DataFrame:
    """Adds {unowned, doubly_owned}_seconds with _low and _high, and is_doubly_owned.

    Null where the readings before or after were not whole, and for broadcasting groups, of which every member holds
    every queue. `queues` has is_broadcasting beside what `event_queues` gives.
    """
    is_sampled = F.col("before_us").isNotNull() & F.col("after_us").isNotNull() & ~F.col("is_broadcasting")
    tests = dict(zip(KINDS, (_is_unowned, _is_doubly_owned), strict=True))
    seconds = {
        f"{kind}_seconds{bound}": F.when(is_sampled, _seconds(test, bound))
        for kind, test in tests.items()
        for bound in ("", "_low", "_high")
    }
    within = F.filter("seen", lambda one: one["at_us"] >= F.col("started_before_us"))
    return queues.withColumns(
        {**seconds, "is_doubly_owned": F.when(is_sampled, F.exists(within, lambda one: _is_doubly_owned(one)))}
    )


def _is_unowned(one: Column) -> Column:
    return one["is_wanted"] & (F.size(one["owners"]) == 0)


def _is_doubly_owned(one: Column) -> Column:
    return F.size(one["owners"]) > 1


def _seconds(test: Callable[[Column], Column], bound: str) -> Column:
    """Over each two readings in a row, from the first change seen on; at most from the reading before it on."""
    start = F.col("started_after_us") if bound == "_high" else F.col("started_before_us")
    counts: Callable[[Column, Column], Column] = {
        "": lambda one, following: test(one),
        "_low": lambda one, following: test(one) & test(following),
        "_high": lambda one, following: test(one) | test(following),
    }[bound]

    def span(place: Column) -> Column:
        one, following = F.element_at("seen", place), F.element_at("seen", place + 1)
        length = F.greatest(following["at_us"] - F.greatest(one["at_us"], start), F.lit(0))
        return F.when(counts(one, following), length).otherwise(F.lit(0).cast("bigint"))

    # Of a single reading no time between two is known; sequence(1, 0) would count downwards.
    pairs = F.when(F.size("seen") > 1, F.sequence(F.lit(1), F.size("seen") - 1)).otherwise(F.array().cast("array<int>"))
    total = F.aggregate(F.transform(pairs, span), F.lit(0).cast("bigint"), lambda so_far, one: so_far + one)
    return total / F.lit(float(MICROSECONDS))
