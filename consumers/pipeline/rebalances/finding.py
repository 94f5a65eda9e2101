"""From the lake's answers to rebalances with their causes, step by step."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from consumers.pipeline.durations import Durations
from consumers.pipeline.queue_arrays import MICROSECONDS

from .answers import group_readings
from .causes import with_causes
from .episodes import with_episodes
from .events import events
from .observations import observations
from .views import with_members

INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


@dataclass(frozen=True)
class Found:
    """`readings`: what views.with_members gives; `events`: one row per rebalance, with its causes."""

    readings: DataFrame
    events: DataFrame

    @classmethod
    def of(cls, membership: DataFrame, ownership: DataFrame, groups: DataFrame, durations: Durations) -> "Found":
        """`membership` and `ownership`: the lake's rows from ChangedGroups.reach on; `groups`: ChangedGroups.rows."""
        answered = group_readings(membership, ownership, groups, durations.rebalance_lookback_seconds)
        patience_us = round(durations.rebalance_patience_seconds * MICROSECONDS)
        readings = with_members(answered, groups, patience_us)
        merged = with_episodes(events(observations(readings, durations), durations), durations)
        return cls(readings, with_causes(merged, durations))


@contextlib.contextmanager
def interpreted(spark: SparkSession) -> Iterator[None]:
    """For the actions of the block no Java is made of the expressions: there are hundreds of them, over few rows, and
    compiling them takes several times as long as all the rest."""
    before = {name: spark.conf.get(name) or "" for name in INTERPRETED}
    for name, value in INTERPRETED.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
