"""How old readings and judgements were at each moment: values of brokers, clusters and the site."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import pairwise

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from consumers.models import Measure, PipelineRun, Reading
from consumers.pipeline.slices import microseconds

from .grid import Grid, sampled

SPANS = pa.schema([("place", pa.int32()), ("from_us", pa.int64()), ("to_us", pa.int64())])
AGES = SPANS.append(pa.field("due_us", pa.int64()))
Key = tuple[str, str]
OF_THOSE_ASKED = (Measure.BROKER_UNREAD, Measure.NAME_SERVER)


def age_values(
    spark: SparkSession, measure: Measure, places: Mapping[Key, int], grid: Grid, holds_for: timedelta
) -> DataFrame:
    """place, at_us, value: seconds since it was last well, and since_us, when that was; not before it first was. And
    spared: it is no older than the site's own intervals make it.

    `places` by cluster and broker; of the site both are empty. `holds_for`: so long after a reading its cluster is
    being read, and after a judgement the site is being judged. While a cluster is not being read, nobody asks its
    brokers and name servers: their age is not known.
    """
    width = microseconds_of(holds_for)
    well: dict[int, list[list[int]]] = {}
    asked: dict[str, list[int]] = {}
    for key, at, is_well in _seen(measure, grid):
        moment = microseconds(at)
        asked.setdefault(key[0], []).append(moment)
        if key not in places:
            continue
        times = well.setdefault(places[key], [])
        if is_well:
            times.append([moment, moment + width])
        elif times:
            # What failed when it was last asked is not as it is set to be.
            times[-1][1] = min(times[-1][1], moment - 1)
    spans = [
        (place, begin, end, due)
        for place, times in well.items()
        for (begin, due), (end, _) in pairwise([*times, [grid.last_us + 1, 0]])
    ]
    ages = sampled(_frame(spark, AGES, spans), grid)
    if measure in OF_THOSE_ASKED:
        held = [
            (place, at, at + width) for (cluster, _), place in places.items() for at in sorted(asked.get(cluster, ()))
        ]
        being_asked = sampled(_frame(spark, SPANS, held), grid).select("place", "at_us").distinct()
        ages = ages.join(being_asked, on=["place", "at_us"], how="left_semi")
    value = ((F.col("at_us") - F.col("from_us")) / 1e6).alias("value")
    is_due = (F.col("at_us") <= F.col("due_us")).alias("spared")
    return ages.select("place", "at_us", value, F.col("from_us").alias("since_us"), is_due)


def microseconds_of(length: timedelta) -> int:
    return length // timedelta(microseconds=1)


def _frame(spark: SparkSession, schema: pa.Schema, spans: Iterable[tuple[int, ...]]) -> DataFrame:
    rows = [dict(zip(schema.names, span, strict=True)) for span in spans]
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema))


def _seen(measure: Measure, grid: Grid) -> Iterator[tuple[Key, datetime, bool]]:
    """What was asked when, and whether it was well, in order of time."""
    if measure == Measure.JUDGEMENT_AGE:
        runs = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=grid.until)
        for until in runs.order_by("until").values_list("until", flat=True).iterator():
            yield ("", ""), until, True
        return
    rows = Reading.objects.filter(taken_at__lte=grid.until).order_by("taken_at")
    for cluster, at, brokers, error in rows.values_list("cluster__name", "taken_at", "brokers", "error").iterator():
        if measure != Measure.BROKER_UNREAD:
            yield (cluster, ""), at, measure == Measure.READING_AGE or error is None
        elif error is None or any(one["error"] != error for one in brokers):
            # Else nothing of the cluster was read: that is told of the cluster.
            yield from (((cluster, one["name"]), at, bool(one["read"])) for one in brokers)
