"""Values that are known from one judgement to the next: states, and how many rebalances there were within an hour."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from itertools import pairwise

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from consumers.models import ConsumerGroup, GroupState, PipelineRun, Rebalance, State, StateChange
from consumers.pipeline.slices import microseconds

from .grid import Grid, sampled

HOUR = timedelta(hours=1)
SPAN = [("from_us", pa.int64()), ("to_us", pa.int64())]
JUDGED = pa.schema(SPAN)
STATES = pa.schema([("place", pa.int32()), ("state", pa.string()), ("since_us", pa.int64()), *SPAN])
EPISODES = pa.schema([("place", pa.int32()), ("episode_us", pa.int64()), *SPAN])


def judged_moments(spark: SparkSession, grid: Grid, holds_for: timedelta) -> DataFrame:
    """at_us of the moments for which a judgement held: one holds for so long."""
    runs = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=grid.until)
    found = runs.filter(until__gt=grid.since - holds_for).order_by("until").values_list("until", flat=True)
    spans: list[list[int]] = []
    for at in found.iterator():
        begin, end = microseconds(at), microseconds(at + holds_for)
        if spans and begin <= spans[-1][1]:
            spans[-1][1] = end
        else:
            spans.append([begin, end])
    rows = [{"from_us": begin, "to_us": end} for begin, end in spans]
    return sampled(spark.createDataFrame(pa.Table.from_pylist(rows, JUDGED)), grid).select("at_us")


def state_values(spark: SparkSession, places: Mapping[int, int], grid: Grid, judged: DataFrame) -> DataFrame:
    """place, at_us, state (null: UNKNOWN, or before the first), since_us where the change was in the range."""
    rows = [row for row in _state_spans(places, grid) if row["state"] not in (None, State.UNKNOWN)]
    spans = spark.createDataFrame(pa.Table.from_pylist(rows, STATES))
    values = sampled(spans, grid).join(F.broadcast(judged), on="at_us", how="left_semi")
    return values.select("place", "at_us", "state", "since_us")


def _state_spans(places: Mapping[int, int], grid: Grid) -> Iterator[dict[str, object]]:
    end = grid.last_us + 1
    changes: dict[int, list[tuple[int, str | None, str]]] = {}
    # Those after the range as well: the first tells what was before it.
    found = StateChange.objects.filter(at__gte=grid.since).order_by("at")
    for group, at, before, after in found.values_list("group_id", "at", "before", "after").iterator():
        if group in places:
            changes.setdefault(group, []).append((microseconds(at), before, after))
    newest = dict(GroupState.objects.order_by().values_list("group_id", "state"))
    for group, place in places.items():
        own = changes.get(group, [])
        first = own[0][1] if own else newest.get(group)
        begin = own[0][0] if own else end
        yield {"place": place, "state": first, "since_us": None, "from_us": grid.first_us, "to_us": begin}
        for (begun, _, after), (until, _, _) in pairwise([*own, (end, None, "")]):
            yield {"place": place, "state": after, "since_us": begun, "from_us": begun, "to_us": min(until, end)}


def rebalance_values(spark: SparkSession, places: Mapping[int, int], grid: Grid, judged: DataFrame) -> DataFrame:
    """place, at_us, value: how many episodes had a rebalance begin within the hour before."""
    began = Rebalance.objects.filter(started_before__gte=grid.since - HOUR, started_before__lt=grid.until)
    rows = [
        {"place": places[group], "episode_us": microseconds(episode), **_hour_from(at)}
        for group, episode, at in began.order_by().values_list("group_id", "episode_since", "started_before")
        if group in places
    ]
    spans = spark.createDataFrame(pa.Table.from_pylist(rows, EPISODES))
    counted = sampled(spans, grid).groupBy("place", "at_us").agg(F.countDistinct("episode_us").alias("episodes"))
    asked = ConsumerGroup.objects.filter(membership_at__isnull=False).values_list("pk", flat=True)
    # Nobody can say of groups whose members were never asked for that they were not rebalanced.
    watched = pa.array([places[group] for group in asked if group in places], pa.int32())
    everyone = spark.createDataFrame(pa.table({"place": watched}))
    value = F.coalesce("episodes", F.lit(0)).cast("double").alias("value")
    known = everyone.crossJoin(F.broadcast(judged)).join(counted, on=["place", "at_us"], how="left")
    return known.select("place", "at_us", value)


def _hour_from(at: datetime) -> dict[str, int]:
    return {"from_us": microseconds(at), "to_us": microseconds(at + HOUR)}
