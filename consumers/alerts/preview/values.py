"""The values that one rule looks at, from where its measure's past is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from pyspark.sql import DataFrame

from consumers.models import AlertRule, Measure
from consumers.pipeline.frames import Frames

from .ages import age_values
from .chosen import Chosen
from .grid import Grid, step_for
from .group_values import group_values
from .history import HISTORY, Source, finest_seconds
from .judged import judged_moments, rebalance_values, state_values
from .topic_values import topic_values

# Of few subjects, or made by Spark itself: nothing is gained by looking less often.
MINUTE = 60
TEN_MINUTES = 600


@dataclass(frozen=True)
class Kept:
    """How long tables of the lake are kept, and for how long a judgement and a reading hold."""

    tables: Mapping[str, timedelta]
    judgement: timedelta
    reading: timedelta


def grid_for(rule: AlertRule, subjects: int, since: datetime, until: datetime, now: datetime, kept: Kept) -> Grid:
    if HISTORY[Measure(rule.measure)] != Source.WINDOWS:
        return Grid.of(since, until, MINUTE)
    finest = finest_seconds(now - since, kept.tables)
    if rule.topic:
        return Grid.of(since, until, finest if finest == TEN_MINUTES else _of_topic(subjects, since, until))
    return Grid.of(since, until, step_for(subjects, since, until, finest))


def _of_topic(subjects: int, since: datetime, until: datetime) -> int:
    """The lake has windows of one minute and of ten."""
    return min(step_for(subjects, since, until, MINUTE), TEN_MINUTES)


def values_of(frames: Frames, rule: AlertRule, chosen: Chosen, grid: Grid, kept: Kept) -> DataFrame:
    """place, at_us, and value, or state with since_us; null, or no row at all, where it is not known."""
    measure = Measure(rule.measure)
    source, groups = HISTORY[measure], chosen.places_of_groups()
    if rule.topic:
        return topic_values(frames, measure, rule.topic, groups, grid)
    if source == Source.WINDOWS:
        return group_values(frames.spark, measure, groups, grid)
    if measure in (Measure.STATE, Measure.REBALANCES):
        judged = judged_moments(frames.spark, grid, kept.judgement)
        of_groups = state_values if measure == Measure.STATE else rebalance_values
        return of_groups(frames.spark, groups, grid, judged)
    return age_values(frames.spark, measure, chosen.places(), grid, kept.reading)
