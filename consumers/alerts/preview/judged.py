"""Values that are known from one evaluation to the next: states, and how many rebalances there were within an hour.

A state stays while evaluations are late, as pages and rules have it then; rebalances are not known.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from consumers.models import ConsumerGroup, GroupState, PipelineRun, Rebalance, State
from consumers.pipeline.slices import microseconds

from .calm import Calm, calm_of_spans
from .grid import Grid, sampled
from .state_changes import Change, changes_of, led_to_by_resets

HOUR = timedelta(hours=1)
SPAN = [("from_us", pa.int64()), ("to_us", pa.int64())]
STATES = pa.schema(
    [("place", pa.int32()), ("state", pa.string()), ("since_us", pa.int64()), ("spared", pa.bool_()), *SPAN]
)
EPISODES = pa.schema([("place", pa.int32()), ("episode_us", pa.int64()), *SPAN])


def judged_moments(grid: Grid, holds_for: timedelta) -> list[int]:
    """The moments of the grid for which a judgement held, in order: one holds for so long."""
    runs = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=grid.until)
    found = runs.filter(until__gt=grid.since - holds_for).order_by("until").values_list("until", flat=True)
    known: set[int] = set()
    newest = None
    for at in found.iterator():
        begin, end = microseconds(at), microseconds(at + holds_for)
        # What the judgement before it covers is there already.
        known.update(grid.moments_in(begin if newest is None else max(begin, newest), end))
        newest = end
    return sorted(known)


def evaluated_moments(grid: Grid) -> list[int]:
    """The moments of the grid at which there was a last evaluation, however long before, in order."""
    runs = PipelineRun.objects.filter(error=None, finished_at__isnull=False, until__lte=grid.until)
    first = runs.order_by("until").values_list("until", flat=True).first()
    return [] if first is None else list(grid.moments_in(microseconds(first), grid.last_us + 1))


def state_values(
    spark: SparkSession, places: Mapping[int, int], grid: Grid, judged: Sequence[int], states: Collection[str]
) -> tuple[DataFrame, Calm]:
    """place, at_us, state (null: UNKNOWN, or before the first), since_us where the change was in the range, and spared:
    a reset from here led to it. Groups that were in none of `states` are calm.
    """
    rows = [row for row in _state_spans(places, grid) if row["state"] not in (None, State.UNKNOWN)]
    were_in = {row["place"] for row in rows if row["state"] in states}
    calm = calm_of_spans(
        ((row["place"], row["from_us"], row["to_us"]) for row in rows if row["place"] not in were_in), judged
    )
    spans = spark.createDataFrame(pa.Table.from_pylist([row for row in rows if row["place"] in were_in], STATES))
    values = sampled(spans, grid).join(F.broadcast(_frame(spark, judged)), on="at_us", how="left_semi")
    return values.select("place", "at_us", "state", "since_us", "spared"), calm


def _state_spans(places: Mapping[int, int], grid: Grid) -> Iterator[dict[str, Any]]:
    end = grid.last_us + 1
    changes: dict[int, list[Change]] = {}
    # Those after the range as well: the first tells what was before it.
    for change in changes_of(places, grid.since):
        changes.setdefault(change.group_id, []).append(change)
    newest = dict(GroupState.objects.order_by().values_list("group_id", "state"))
    by_resets = led_to_by_resets([change for own in changes.values() for change in own])
    for group, place in places.items():
        own = changes.get(group, [])
        first = own[0].before if own else newest.get(group)
        begin = microseconds(own[0].at) if own else end
        before = {"state": first, "since_us": None, "spared": False}
        yield {"place": place, **before, "from_us": grid.first_us, "to_us": begin}
        for change, following in zip_longest(own, own[1:]):
            until = end if following is None else min(end, microseconds(following.at))
            said = {"state": change.after, "since_us": microseconds(change.since), "spared": change.pk in by_resets}
            yield {"place": place, **said, "from_us": microseconds(change.at), "to_us": until}


def rebalance_values(
    spark: SparkSession, places: Mapping[int, int], grid: Grid, judged: Sequence[int]
) -> tuple[DataFrame, Calm]:
    """place, at_us, value: how many episodes had a rebalance begin within the hour before. Groups without any are calm.

    Nobody can say of groups whose members were never asked for that they were not rebalanced.
    """
    began = Rebalance.objects.filter(started_before__gte=grid.since - HOUR, started_before__lt=grid.until)
    rows = [
        {"place": places[group], "episode_us": microseconds(episode), **_hour_from(at)}
        for group, episode, at in began.order_by().values_list("group_id", "episode_since", "started_before")
        if group in places
    ]
    spans = spark.createDataFrame(pa.Table.from_pylist(rows, EPISODES))
    counted = sampled(spans, grid).groupBy("place", "at_us").agg(F.countDistinct("episode_us").alias("episodes"))
    asked = ConsumerGroup.objects.filter(membership_at__isnull=False).values_list("pk", flat=True)
    watched, moved = {places[group] for group in asked if group in places}, {row["place"] for row in rows}
    calm = calm_of_spans(((place, grid.first_us, grid.last_us + 1) for place in watched - moved), judged)
    others = spark.createDataFrame(pa.table({"place": pa.array(sorted(watched & moved), pa.int32())}))
    value = F.coalesce("episodes", F.lit(0)).cast("double").alias("value")
    known = others.crossJoin(F.broadcast(_frame(spark, judged)))
    return known.join(counted, on=["place", "at_us"], how="left").select("place", "at_us", value), calm


def _frame(spark: SparkSession, judged: Sequence[int]) -> DataFrame:
    return spark.createDataFrame(pa.table({"at_us": pa.array(judged, pa.int64())}))


def _hour_from(at: datetime) -> dict[str, int]:
    return {"from_us": microseconds(at), "to_us": microseconds(at + HOUR)}
