"""One run of the pipeline over [since, until): the only place that reads the lake for Spark and writes what it found.

The same range twice gives the same files and rows. Cost goes by the range: an ordinary run reads a few minutes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from consumers.lake.store import Lake
from consumers.pipeline.publish.group_rows import write_group_states
from consumers.pipeline.publish.queue_rows import write_queue_states
from consumers.pipeline.publish.rebalance_rows import write_rebalances
from consumers.pipeline.publish.window_rows import write_group_windows

from . import known
from .durations import Durations
from .frames import Frames
from .group_state import group_states
from .group_windows import group_windows
from .history import write_knots, write_wide_windows, write_windows
from .judging import judged_queues
from .kernel.trend import minutes_needed
from .kinds import KindRows
from .lag_lookup import looked_up
from .queue_arrays import queue_arrays, silent_arrays, with_hands
from .rebalances.run import find_rebalances
from .slices import MINUTE, floor, microseconds, slices
from .time_lag import with_points
from .volumes.dead_letters import dead_letters
from .volumes.of_groups import group_volumes
from .volumes.recent import recent_volumes
from .volumes.topic_facts import group_topics, with_appeared


@dataclass(frozen=True)
class Report:
    clusters: Sequence[str]
    since: datetime
    until: datetime
    readings: int = 0
    queues_judged: int = 0
    groups_judged: int = 0
    windows: int = 0
    rebalances: int = 0  # that began in the range, or were still going on when it began
    unknown_rows: int = 0  # judged, but without a row of the poll to hang the state on


def run(
    spark: SparkSession, lake: Lake, clusters: Sequence[str], since: datetime, until: datetime, durations: Durations
) -> Report:
    """Windows of the whole range, states at its end."""
    frames = Frames(spark, lake, clusters)
    kinds = KindRows.of(clusters, until, durations)
    windows = 0
    report = Report(clusters, since, until)
    for start, end in slices(since, until):
        arrays = _arrays(frames, start, end, durations)
        try:
            windows += _write_history(arrays, frames, kinds, start, end, durations)
            if end == until:
                report = _write_states(kinds.in_use(arrays, frames), frames, kinds, report, durations)
        finally:
            spark.catalog.clearCache()
    counts = {
        "windows": windows,
        "readings": frames.table("readings", since, until).count(),
        "rebalances": _write_rebalances(frames, since, until, durations),
    }
    return Report(**{**report.__dict__, **counts})


def _arrays(frames: Frames, since: datetime, until: datetime, durations: Durations) -> DataFrame:
    """Arrays with their time lags, for the windows from `since` on and for the judgement at `until`."""
    lookback = timedelta(seconds=durations.lookback_seconds)
    reach = min(since, until) - lookback
    readings = frames.table("readings", reach, until).where(F.col("kind") != "dlq")
    arrays = queue_arrays(readings)
    brokers = list(known.BrokersRead(frames.clusters, reach, until).unread(reach, until))
    silent = pa.concat_tables(
        [known.silent_queues(brokers), known.unreported_queues(frames.clusters, reach, besides=brokers)]
    )
    if silent.num_rows:
        arrays = arrays.unionByName(silent_arrays(frames.known(silent)))
    course = minutes_needed(durations) * MINUTE
    arrays = with_hands(arrays, frames.known(known.set_by_hand(frames.clusters, reach - course, until)))
    lately = until - timedelta(seconds=durations.span_seconds / 3)
    arrays = with_appeared(arrays, frames, reach, until, durations)
    kept = with_points(arrays, microseconds(min(since, lately))).persist()
    write_knots(kept, frames, since, until)
    return looked_up(kept, frames, until, durations)


def _write_history(
    arrays: DataFrame, frames: Frames, kinds: KindRows, since: datetime, until: datetime, durations: Durations
) -> int:
    since = floor(since, MINUTE)
    rows = write_windows(arrays, frames, since, until, durations)
    rows += write_wide_windows(frames, since, until, arrays.count())
    read = known.BrokersRead(frames.clusters, since, until + MINUTE)
    unread = frames.known(known.unread_groups(read, since, until))
    found = group_windows(kinds.in_use(frames.table("windows_60", since, until), frames), unread)
    topics = frames.known(group_topics(frames.clusters))
    found = group_volumes(found, dead_letters(frames, since, until, durations), topics)
    reach = timedelta(seconds=durations.reach_seconds)
    return rows + write_group_windows(found.toArrow(), frames.clusters, since, until, reach)


def _write_states(arrays: DataFrame, frames: Frames, kinds: KindRows, report: Report, durations: Durations) -> Report:
    """`arrays` are those of queues in use."""
    until, rows = report.until, known.KnownRows.of(frames.clusters)
    queues = judged_queues(arrays, frames, rows, kinds, until, durations)
    groups = group_states(frames.known(queues)).toArrow()
    placed = write_queue_states(queues, frames.clusters, report.until)
    recent = recent_volumes(report.until, timedelta(seconds=durations.reach_seconds))
    write_group_states(groups, frames.clusters, report.until, recent)
    return Report(
        report.clusters,
        report.since,
        report.until,
        queues_judged=queues.num_rows,
        groups_judged=groups.num_rows,
        unknown_rows=queues.num_rows - placed,
    )


def _write_rebalances(frames: Frames, since: datetime, until: datetime, durations: Durations) -> int:
    found = find_rebalances(frames, since, until, durations)
    return 0 if found is None else write_rebalances(found.events, found.topics, found.spans, until)
