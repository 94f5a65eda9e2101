"""Answers one preview: whom the rule selects, what was known of each, and what the machine makes of it."""

from datetime import datetime
from typing import Any

from pyspark.sql import functions as F

from consumers.models import AlertRule, Comparison, RulePreview
from consumers.pipeline.frames import Frames

from .chosen import Chosen, chosen
from .grid import Grid
from .looks import looks
from .replay import replayed
from .result import result_of
from .values import Kept, grid_for, values_of


def answer(frames: Frames, preview: RulePreview, kept: Kept, now: datetime) -> dict[str, Any]:
    """The preview's `result`, see result.py. Bounded by the caller."""
    rule = AlertRule(**preview.rule)
    selected = chosen(rule, now)
    grid = grid_for(rule, len(selected.subjects), preview.since, preview.until, now, kept)
    if not selected.subjects or not grid.count:
        return result_of(rule, selected, grid, [], {})
    incidents, known = _replayed(frames, rule, selected, grid, kept)
    return result_of(rule, selected, grid, incidents, known)


def _replayed(
    frames: Frames, rule: AlertRule, selected: Chosen, grid: Grid, kept: Kept
) -> tuple[list[dict[str, Any]], dict[int, int]]:
    """The incidents, and how many values were known at each place."""
    comparison = Comparison(rule.comparison)
    terms = frames.known(selected.terms_table())
    values = values_of(frames, rule, selected, grid, kept)
    looked = looks(values, terms, comparison, selected.terms[0].states).persist()
    try:
        counted = looked.groupBy("place").agg(F.count("*").alias("known")).toArrow()
        incidents = replayed(looked, is_low_worse=comparison == Comparison.BELOW).toArrow()
    finally:
        looked.unpersist()
    return incidents.to_pylist(), dict(zip(*(counted[name].to_pylist() for name in ("place", "known")), strict=True))
