"""The machine of incidents (consumers.alerts.evaluation.machine) over stored values, as columns: all subjects at once.

Values that are not known are left out before: they neither fire nor resolve, and leave everything as it is.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

TIME = "bigint"
INCIDENT = f"struct<started_us:{TIME},fired_us:{TIME},resolved_us:{TIME},worst_value:double>"
OPEN = f"struct<started_us:{TIME},fired_us:{TIME},clearing_us:{TIME},worst_value:double>"


def replayed(values: DataFrame, is_low_worse: bool) -> DataFrame:
    """place, started_us, fired_us, resolved_us (null: it fires still at the end), worst_value: a row an incident.

    `values`: place, at_us, value (null for states), holds, cleared, since_us (null: not told), for_us, clear_us; those
    that are known. What was pending and passed, or is pending still, leaves no row.
    """
    step = F.struct("at_us", "value", "holds", "cleared", "since_us", "for_us", "clear_us")
    by_place = values.groupBy("place").agg(
        F.array_sort(F.collect_list(step)).alias("steps"), F.bool_or("holds").alias("ever")
    )
    first = F.struct(_nothing().alias("open"), F.array().cast(f"array<{INCIDENT}>").alias("over"))

    def then(course: Column, seen: Column) -> Column:
        return _then(course, seen, is_low_worse)

    # Most never hold: they are not walked through.
    ended = by_place.where("ever").select("place", F.aggregate("steps", first, then).alias("end"))
    still = F.when(F.col("end.open.fired_us").isNotNull(), F.array(_incident(F.col("end.open"), F.lit(None))))
    incidents = F.concat("end.over", F.coalesce(still, F.array().cast(f"array<{INCIDENT}>")))
    return ended.select("place", F.inline(incidents))


def _then(course: Column, seen: Column, is_low_worse: bool) -> Column:
    was = course["open"]
    is_firing = was["fired_us"].isNotNull()
    clearing = F.coalesce(was["clearing_us"], seen["at_us"])
    is_over = is_firing & seen["cleared"] & (seen["at_us"] - clearing >= seen["clear_us"])
    still = F.when(seen["cleared"], _open(was["started_us"], was["fired_us"], clearing, was["worst_value"])).otherwise(
        was
    )
    stays = F.when(is_firing & ~is_over, still).otherwise(_nothing())
    over = F.when(is_over, F.concat(course["over"], F.array(_incident(was, seen["at_us"])))).otherwise(course["over"])
    return F.struct(
        F.when(seen["holds"], _held(was, seen, is_low_worse)).otherwise(stays).alias("open"), over.alias("over")
    )


def _held(was: Column, seen: Column, is_low_worse: bool) -> Column:
    started = F.coalesce(was["started_us"], F.least(seen["since_us"], seen["at_us"]))
    fired = F.coalesce(was["fired_us"], F.when(seen["at_us"] - started >= seen["for_us"], seen["at_us"]))
    worse = F.least if is_low_worse else F.greatest
    return _open(started, fired, F.lit(None), worse(was["worst_value"], seen["value"]))


def _open(started: Column, fired: Column, clearing: Column, worst: Column) -> Column:
    named = {"started_us": started, "fired_us": fired, "clearing_us": clearing, "worst_value": worst}
    return F.struct(*[column.alias(name) for name, column in named.items()]).cast(OPEN)


def _nothing() -> Column:
    return F.lit(None).cast(OPEN)


def _incident(course: Column, resolved: Column) -> Column:
    named = [course["started_us"], course["fired_us"], resolved.cast(TIME).alias("resolved_us"), course["worst_value"]]
    return F.struct(*named).cast(INCIDENT)
