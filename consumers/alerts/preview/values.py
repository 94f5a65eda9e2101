"""The values that one rule looks at, from where its measure's past is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from pyspark.sql import DataFrame

from consumers.models import AlertRule, Measure
from consumers.pipeline.frames import Frames

from .ages import age_values
from .calm import Calm
from .calm_windows import FIELDS as CALM_FIELDS
from .calm_windows import calm_windows
from .chosen import Chosen
from .grid import Grid, step_for
from .group_values import NAMED_AT_ONCE, group_values
from .history import HISTORY, Source, finest_seconds
from .judged import evaluated_moments, judged_moments, rebalance_values, state_values
from .member_values import member_values
from .topic_values import topic_values
from .unsettled_values import unsettled_values

# Of few subjects, or made by Spark itself: nothing is gained by looking less often.
MINUTE = 60
TEN_MINUTES = 600


@dataclass(frozen=True)
class Kept:
    """How long tables of the lake are kept; how long a judgement, a reading, and an answer about members hold."""

    tables: Mapping[str, timedelta]
    judgement: timedelta
    reading: timedelta
    membership: timedelta


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


def values_of(frames: Frames, rule: AlertRule, chosen: Chosen, grid: Grid, kept: Kept) -> tuple[DataFrame, Calm]:
    """place, at_us, and value, or state; null, or no row at all, where it is not known. Where it is told: since_us, and
    spared, that the rule left it alone then. Of those that are calm there is none.
    """
    measure = Measure(rule.measure)
    source, groups = HISTORY[measure], chosen.places_of_groups()
    if rule.topic:
        return topic_values(frames, measure, rule.topic, groups, grid), Calm()
    if source == Source.WINDOWS:
        return _of_windows(frames, measure, chosen, grid)
    if measure == Measure.MEMBERS:
        return member_values(frames, groups, grid, kept.membership), Calm()
    if measure == Measure.STATE:
        return state_values(frames.spark, groups, grid, evaluated_moments(grid), rule.states or [])
    if measure == Measure.REBALANCES:
        return rebalance_values(frames.spark, groups, grid, judged_moments(grid, kept.judgement))
    if measure == Measure.UNSETTLED:
        return unsettled_values(frames.spark, groups, grid, judged_moments(grid, kept.judgement))
    holds_for = kept.judgement if measure == Measure.JUDGEMENT_AGE else kept.reading
    return age_values(frames.spark, measure, chosen.places(), grid, holds_for), Calm()


def _of_windows(frames: Frames, measure: Measure, chosen: Chosen, grid: Grid) -> tuple[DataFrame, Calm]:
    groups, calm = chosen.places_of_groups(), Calm()
    if measure in CALM_FIELDS:
        thresholds = {place: own.threshold for place, own in enumerate(chosen.terms) if own.threshold is not None}
        calm = calm_windows(measure, thresholds, groups, grid, NAMED_AT_ONCE)
    others = {group: place for group, place in groups.items() if place not in calm.known}
    return group_values(frames.spark, measure, others, grid), calm
