"""What a rule makes of values: whether they hold, and whether they are beyond neither threshold (see rules.terms)."""

from collections.abc import Collection

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from consumers.models import Comparison, State


def looks(values: DataFrame, terms: DataFrame, comparison: Comparison, states: Collection[State]) -> DataFrame:
    """What `replay.replayed` takes, of the values that are known.

    `values`: place, at_us, value or state, and where that is told since_us, and spared, which counts as over. `terms`:
    place, threshold, clear_threshold, for_us, clear_us.
    """
    known = values.join(F.broadcast(terms), on="place")
    for name, untold in (("since_us", F.lit(None).cast("bigint")), ("spared", F.lit(False))):
        if name not in values.columns:
            known = known.withColumn(name, untold)
    if comparison == Comparison.IN:
        holds = F.col("state").isin(*states)
        known = known.where(F.col("state").isNotNull()).withColumn("value", F.lit(None).cast("double"))
        cleared = ~holds
    else:
        known = known.where(F.col("value").isNotNull())
        holds = _is_beyond(F.col("threshold"), comparison)
        # Without a second threshold this is null: then the first alone counts.
        cleared = ~holds & ~F.coalesce(_is_beyond(F.col("clear_threshold"), comparison), F.lit(False))
    is_spared = F.col("spared")
    looked = known.withColumns({"holds": holds & ~is_spared, "cleared": cleared | is_spared})
    return looked.select("place", "at_us", "value", "holds", "cleared", "since_us", "for_us", "clear_us")


def _is_beyond(threshold: Column, comparison: Comparison) -> Column:
    return F.col("value") > threshold if comparison == Comparison.ABOVE else F.col("value") < threshold
