"""How many members groups had, from the answers about them that the lake keeps."""

from collections.abc import Mapping
from datetime import timedelta

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from consumers.lake.schemas import TEXT
from consumers.models import ConsumerGroup
from consumers.pipeline.frames import Frames

from .grid import Grid, sampled

PLACES = pa.schema([("cluster", TEXT), ("group", TEXT), ("place", pa.int32())])
MICROSECOND = timedelta(microseconds=1)


def member_values(frames: Frames, places: Mapping[int, int], grid: Grid, holds_for: timedelta) -> DataFrame:
    """place, at_us, value (null: not every broker answered), and since_us, since when there has been none.

    `places` by group id. An answer holds until the next one, and for so long at most.
    """
    answers = frames.table("membership", grid.since - holds_for, grid.until + MICROSECOND)
    mine = answers.join(F.broadcast(frames.known(of_groups(places))), on=["cluster", "group"])
    by_time = Window.partitionBy("place").orderBy("taken_us")
    run = F.count_if(F.col("members") > 0).over(by_time.rowsBetween(Window.unboundedPreceding, 0))
    told = mine.select("place", F.unix_micros("taken_at").alias("taken_us"), "members").withColumn("run", run)
    first = F.min(F.when(F.col("members") == 0, F.col("taken_us"))).over(Window.partitionBy("place", "run"))
    spans = told.select(
        "place",
        F.col("members").cast("double").alias("value"),
        F.when(F.col("members") == 0, first).alias("since_us"),
        F.col("taken_us").alias("from_us"),
        F.least(F.lead("taken_us").over(by_time), F.col("taken_us") + holds_for // MICROSECOND).alias("to_us"),
    )
    return sampled(spans, grid).select("place", "at_us", "value", "since_us")


def of_groups(places: Mapping[int, int]) -> pa.Table:
    """Their names, and the place of each."""
    named = ConsumerGroup.objects.order_by().values_list("cluster__name", "name", "pk")
    rows = [
        {"cluster": cluster, "group": name, "place": places[pk]}
        for cluster, name, pk in named.iterator()
        if pk in places
    ]
    return pa.Table.from_pylist(rows, PLACES)
