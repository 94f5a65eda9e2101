"""Answers one preview: whom the rule selects, what was known of each, and what the machine makes of it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from consumers.models import AlertRule, Comparison, RulePreview
from consumers.pipeline.frames import Frames

from .calm import Calm
from .chosen import Chosen, chosen
from .compared import Fired, evaluated
from .days import DAY_US
from .grid import Grid
from .left_alone import left_alone
from .looks import looks
from .replay import replayed
from .result import DRAWN_AT_MOST, Found, moment, most_fired, result_of
from .unknown_spans import Span, unknown_spans
from .values import Kept, grid_for, values_of

Rows = Sequence[Mapping[str, Any]]


def answer(frames: Frames, preview: RulePreview, kept: Kept, now: datetime) -> dict[str, Any]:
    """The preview's `result`, see result.py. Bounded by the caller."""
    rule = AlertRule(**preview.rule)
    selected = chosen(rule, now)
    grid = grid_for(rule, len(selected.subjects), preview.since, preview.until, now, kept)
    if not selected.subjects or not grid.count:
        return result_of(rule, selected, grid, Found(evaluated=evaluated(rule, selected, grid, [])), now)
    return result_of(rule, selected, grid, _found(frames, rule, selected, grid, kept, now), now)


def _found(frames: Frames, rule: AlertRule, selected: Chosen, grid: Grid, kept: Kept, now: datetime) -> Found:
    comparison = Comparison(rule.comparison)
    terms = frames.known(selected.terms_table())
    values, calm = values_of(frames, rule, selected, grid, kept)
    looked = looks(values, terms, comparison, selected.terms[0].states).persist()
    try:
        counted = calm.and_of(_known(looked))
        incidents = replayed(looked, is_low_worse=comparison == Comparison.BELOW).toArrow().to_pylist()
        drawn = [place for place, _ in most_fired(selected, incidents)[:DRAWN_AT_MOST]]
        spans = _unknown_spans(looked, drawn, selected, grid)
    finally:
        looked.unpersist()
    fired = {one["place"]: selected.subjects[one["place"]] for one in incidents}
    return Found(
        incidents=incidents,
        known=counted.known,
        known_on=counted.known_on,
        known_at=counted.known_at,
        unknown_spans=spans,
        left_alone=left_alone(rule, fired, now),
        evaluated=evaluated(rule, selected, grid, [_fired(one, selected) for one in incidents]),
    )


def _known(looked: DataFrame) -> Calm:
    """How many values were known at each place and on each day, and at which moments any was."""
    days = looked.select("place", "at_us", F.floor(F.col("at_us") / DAY_US).alias("day"))
    names = ("place", "day", "at_us")
    sets = [[F.col(name)] for name in names]
    rows = days.groupingSets(sets, *names).agg(F.count("*").alias("known")).toArrow().to_pylist()
    by_place, by_day, by_moment = ({row[name]: row["known"] for row in rows if row[name] is not None} for name in names)
    return Calm(by_place, by_day, frozenset(by_moment))


def _unknown_spans(looked: DataFrame, places: Sequence[int], chosen: Chosen, grid: Grid) -> dict[int, list[Span]]:
    if not places:
        return {}
    mine = looked.where(F.col("place").isin(*places)).groupBy("place")
    rows = mine.agg(F.array_sort(F.collect_list("at_us")).alias("known")).toArrow().to_pylist()
    return {
        row["place"]: unknown_spans(grid, map(moment, row["known"]), chosen.first_seen[row["place"]]) for row in rows
    }


def _fired(one: Mapping[str, Any], chosen: Chosen) -> Fired:
    over = one["resolved_us"]
    return Fired(chosen.subjects[one["place"]].key, moment(one["fired_us"]), None if over is None else moment(over))
