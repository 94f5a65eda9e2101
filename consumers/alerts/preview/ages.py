"""How old readings and judgements were at each moment: values of brokers, clusters and the site."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from consumers.models import Measure, PipelineRun, Reading
from consumers.pipeline.slices import microseconds

from .grid import Grid, sampled

AGES = pa.schema([("place", pa.int32()), ("from_us", pa.int64()), ("to_us", pa.int64())])
Key = tuple[str, str]


def age_values(spark: SparkSession, measure: Measure, places: Mapping[Key, int], grid: Grid) -> DataFrame:
    """place, at_us, value: seconds since it was last well; not before that was first seen.

    `places` by cluster and broker; of the site both are empty.
    """
    well: dict[int, list[int]] = {}
    for key, at_us in _well(measure, grid):
        if key in places:
            well.setdefault(places[key], []).append(at_us)
    rows = [
        {"place": place, "from_us": at, "to_us": until}
        for place, times in well.items()
        for at, until in pairwise([*times, grid.last_us + 1])
    ]
    spans = spark.createDataFrame(pa.Table.from_pylist(rows, AGES))
    return sampled(spans, grid).select("place", "at_us", ((F.col("at_us") - F.col("from_us")) / 1e6).alias("value"))


def _well(measure: Measure, grid: Grid) -> Iterator[tuple[Key, int]]:
    """What was well when, in order of time."""
    if measure == Measure.JUDGEMENT_AGE:
        runs = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=grid.until)
        for until in runs.order_by("until").values_list("until", flat=True).iterator():
            yield ("", ""), microseconds(until)
        return
    rows = Reading.objects.filter(taken_at__lte=grid.until).order_by("taken_at")
    for cluster, at, brokers, error in rows.values_list("cluster__name", "taken_at", "brokers", "error").iterator():
        if measure == Measure.BROKER_UNREAD:
            yield from (((cluster, one["name"]), microseconds(at)) for one in brokers if one["read"])
        elif measure == Measure.READING_AGE or error is None:
            yield (cluster, ""), microseconds(at)
