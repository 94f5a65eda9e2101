"""Values of groups from their stored windows: what charts show is what is looked at."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

import pyarrow as pa
from django.db.models import QuerySet
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from consumers.alerts.measures.unknown import NO_LAG
from consumers.models import GroupWindow, Measure
from consumers.pipeline.kernel.group_windows import NOT_READ
from consumers.pipeline.kernel.trend import LONGEST_DRAIN_SECONDS
from consumers.pipeline.slices import floor

from .expiry_values import expires_in, kept_table
from .grid import Grid

HOUR_US, FIVE_MINUTES_US = 3_600_000_000, 300_000_000
# SQLite takes no more than some thousand parameters in one statement.
NAMED_AT_ONCE = 500
ROWS_AT_ONCE = 100_000
Row = tuple[Any, ...]
FIELDS: dict[Measure, tuple[str, ...]] = {
    Measure.LAG: ("lag_messages",),
    Measure.TIME_LAG: ("time_lag_seconds",),
    Measure.EXPIRY: ("lag_messages", "time_lag_seconds"),
    Measure.DRAIN: ("lag_messages", "consume_rate", "produce_rate"),
    Measure.RETRY_SHARE: ("into_retry", "consumed"),
    Measure.DLQ_INFLOW: ("into_dlq",),
    Measure.UNKNOWN: ("lag_messages", "unknown_reason"),
}
TYPES = {"unknown_reason": pa.string(), "into_retry": pa.int64(), "consumed": pa.int64(), "into_dlq": pa.int64()}
TYPES |= {"lag_messages": pa.int64()}
# What is summed over a time begins so long before.
REACH = {Measure.RETRY_SHARE: timedelta(hours=1), Measure.DLQ_INFLOW: timedelta(minutes=5)}


def group_values(spark: SparkSession, measure: Measure, places: Mapping[int, int], grid: Grid) -> DataFrame:
    """place, at_us, value (null: not known), since_us where that is told, of the moments for which there is a window.

    `places` by group id.
    """
    since = grid.since - REACH.get(measure, timedelta())
    stored = stored_windows(places, FIELDS[measure], since, grid.until, grid.step_seconds)
    at = F.unix_micros("start") + grid.step_us
    windows = spark.createDataFrame(stored).withColumn("at_us", at)
    if measure == Measure.UNKNOWN:
        return _unknown(windows)
    if measure == Measure.EXPIRY:
        windows = windows.join(F.broadcast(spark.createDataFrame(kept_table(places))), on="place")
    values = windows.select("place", "at_us", VALUES[measure](grid).cast("double").alias("value"))
    return values.where(F.col("at_us") >= grid.first_us)


def stored_windows(
    places: Mapping[int, int], names: Sequence[str], since: datetime, until: datetime, step_seconds: int
) -> pa.Table:
    """place, start and `names` of the windows of [since, until)."""
    schema = pa.schema(
        [
            *[("place", pa.int32()), ("start", pa.timestamp("us", tz="UTC"))],
            *[(name, TYPES.get(name, pa.float64())) for name in names],
        ]
    )
    return pa.Table.from_batches(_batches(places, names, since, until, step_seconds, schema), schema)


def _batches(
    places: Mapping[int, int],
    names: Sequence[str],
    since: datetime,
    until: datetime,
    step_seconds: int,
    schema: pa.Schema,
) -> Iterator[pa.RecordBatch]:
    rows = GroupWindow.objects.filter(step_seconds=step_seconds).order_by()
    if len(places) <= NAMED_AT_ONCE:
        found = _of_few(rows.filter(start__gte=since, start__lt=until), places, names)
    else:
        # The moments alone: with the range beside them SQLite would search all of the range for each.
        found = _moment_by_moment(rows, names, since, until, timedelta(seconds=step_seconds))
    for some in found:
        columns = list(zip(*some, strict=True))
        mine = pa.array([places.get(group) for group in columns[0]], pa.int32())
        arrays = [pa.array(column, field.type) for column, field in zip(columns[1:], list(schema)[1:], strict=True)]
        yield pa.RecordBatch.from_arrays([mine, *arrays], schema=schema).filter(mine.is_valid())


def _of_few(rows: QuerySet[GroupWindow], places: Mapping[int, int], names: Sequence[str]) -> Iterator[list[Row]]:
    found = rows.filter(group__in=list(places)).values_list("group_id", "start", *names)
    every = found.iterator(chunk_size=ROWS_AT_ONCE)
    while some := list(islice(every, ROWS_AT_ONCE)):
        yield some


def _moment_by_moment(
    rows: QuerySet[GroupWindow], names: Sequence[str], since: datetime, until: datetime, step: timedelta
) -> Iterator[list[Row]]:
    """Of all groups: making times of a database's texts takes five times as long as all the rest."""
    some: list[Row] = []
    at = floor(since, step)
    if at < since:
        at += step
    while at < until:
        some += [(group, at, *said) for group, *said in rows.filter(start=at).values_list("group_id", *names)]
        at += step
        if len(some) >= ROWS_AT_ONCE or (some and at >= until):
            yield some
            some = []


def _drain(grid: Grid) -> Column:
    """Nothing to drain is drained; what is not drained at this rate has no time."""
    surplus = F.col("consume_rate") - F.col("produce_rate")
    lag = F.col("lag_messages")
    drains = (surplus > 0) & (lag <= surplus * LONGEST_DRAIN_SECONDS)
    return F.when(lag == 0, F.lit(0.0)).when(drains, lag / surplus)


def _retry_share(grid: Grid) -> Column:
    """Over the hour that ends with the window."""
    retried, consumed = (_sum(name, HOUR_US, grid) for name in ("into_retry", "consumed"))
    return F.when(consumed > 0, retried / consumed)


def _dlq_inflow(grid: Grid) -> Column:
    """Over five minutes, or the window itself where that is wider."""
    return _sum("into_dlq", max(FIVE_MINUTES_US, grid.step_us), grid)


def _sum(name: str, width_us: int, grid: Grid) -> Column:
    """Null where a window of it is missing, or does not know it."""
    parts = width_us // grid.step_us
    within = Window.partitionBy("place").orderBy("at_us").rangeBetween(-(width_us - grid.step_us), 0)
    return F.when(F.count(name).over(within) == parts, F.sum(name).over(within))


def _unknown(windows: DataFrame) -> DataFrame:
    """Seconds since the lag was known. A broker that was not read is another subject's, and what it explained is not
    counted; a group that has no lag by what it is lacks nothing.
    """
    before = Window.partitionBy("place").orderBy("at_us").rowsBetween(Window.unboundedPreceding, 0)
    reason = F.coalesce("unknown_reason", F.lit(""))
    is_known = F.col("lag_messages").isNotNull() | reason.isin(*NO_LAG)
    last = F.max(F.when(is_known | (reason == NOT_READ), F.col("at_us"))).over(before)
    since = F.coalesce(last, F.min("at_us").over(before))
    value = F.when(is_known, F.lit(0.0)).when(reason != NOT_READ, (F.col("at_us") - since) / 1e6)
    return windows.select("place", "at_us", value.alias("value"), since.alias("since_us"))


VALUES = {
    Measure.LAG: lambda grid: F.col("lag_messages"),
    Measure.TIME_LAG: lambda grid: F.col("time_lag_seconds"),
    Measure.EXPIRY: lambda grid: expires_in(),
    Measure.DRAIN: _drain,
    Measure.RETRY_SHARE: _retry_share,
    Measure.DLQ_INFLOW: _dlq_inflow,
}
