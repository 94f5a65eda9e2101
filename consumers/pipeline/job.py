"""One run of the pipeline over [since, until): asks the database what it knows, has the kernel do the work, writes what
it found.

The same range twice gives the same files and rows. Cost goes by the range: an ordinary run reads a few minutes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pyarrow as pa
from pyspark.sql import SparkSession

from consumers.lake import reader
from consumers.lake.store import Lake
from consumers.pipeline.publish.group_rows import write_group_states
from consumers.pipeline.publish.queue_rows import write_queue_states
from consumers.pipeline.publish.rebalance_rows import write_rebalances
from consumers.pipeline.publish.window_rows import write_group_windows

from . import known
from .bucket import Facts, Work
from .durations import Durations
from .history import is_wide_due, write_knots, write_windows
from .kernel.anchors import ANCHORS
from .kernel.trend import minutes_needed
from .kinds import KindRows
from .rebalances.run import find_rebalances
from .slices import MINUTE, floor, slices
from .spark import run_buckets, spans_for
from .volumes.recent import recent_volumes
from .volumes.topic_facts import appeared_topics, group_topics
from .wider import note_due


@dataclass
class Anchors:
    """What time lags were found at, from run to run of a process; see kernel/anchors.py. Lost with the process, they
    are found anew."""

    table: pa.Table = field(default_factory=ANCHORS.empty_table)


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
    spark: SparkSession,
    lake: Lake,
    clusters: Sequence[str],
    since: datetime,
    until: datetime,
    durations: Durations,
    kept: Anchors | None = None,
) -> Report:
    """Windows of the whole range, states at its end. `kept`: what the run before this one left in this process."""
    kinds = KindRows.of(clusters, until, durations)
    kept = kept or Anchors()
    report = Report(clusters, since, until)
    for start, end in slices(since, until):
        work = _work(spark, lake, report, start, end, kinds, durations, kept)
        found = run_buckets(spark, work)
        kept.table = found["anchors"]
        report = replace(
            report,
            windows=report.windows + _write_history(lake, clusters, work, found),
            readings=report.readings + _readings(found),
        )
        if work.is_last:
            report = _write_states(found, report, durations)
    return replace(report, rebalances=_write_rebalances(lake, clusters, since, until, durations))


def _work(
    spark: SparkSession,
    lake: Lake,
    report: Report,
    since: datetime,
    until: datetime,
    kinds: KindRows,
    durations: Durations,
    kept: Anchors,
) -> Work:
    clusters = report.clusters
    reach = since - timedelta(seconds=durations.lookback_seconds)
    names = [reader.files(lake, "readings", cluster, reach, until) for cluster in clusters]
    return Work(
        location=lake.url,
        clusters=tuple(clusters),
        asked_since=report.since,
        since=since,
        until=until,
        durations=durations,
        facts=_facts(clusters, since, until, kinds, durations, kept),
        spans=spans_for(lake, names, spark.sparkContext.defaultParallelism),
        is_last=until == report.until,
        is_wide=is_wide_due(lake, clusters, since, until),
    )


def _facts(
    clusters: Sequence[str], since: datetime, until: datetime, kinds: KindRows, durations: Durations, kept: Anchors
) -> Facts:
    reach = since - timedelta(seconds=durations.lookback_seconds)
    brokers = list(known.BrokersRead(clusters, reach, until).unread(reach, until))
    silent = [known.silent_queues(brokers), known.unreported_queues(clusters, reach, besides=brokers)]
    start = floor(since, MINUTE)
    read = known.BrokersRead(clusters, start, until + MINUTE)
    course = minutes_needed(durations) * MINUTE
    return Facts(
        known.known_rows(clusters, kinds.groups, known.set_by_hand(clusters, reach - course, until)),
        retired=kinds.retired,
        silent=pa.concat_tables(silent),
        appeared=appeared_topics(clusters, reach, until, timedelta(seconds=durations.reach_seconds)),
        unread=known.unread_groups(read, start, until),
        topics=group_topics(clusters),
        anchors=kept.table,
    )


def _write_history(lake: Lake, clusters: Sequence[str], work: Work, found: dict[str, pa.Table]) -> int:
    write_knots(lake, found["knots"])
    rows = write_windows(lake, found["windows_60"])
    if work.is_wide:
        note_due(clusters, work.since)
        rows += write_windows(lake, found["windows_600"])
    reach = timedelta(seconds=work.durations.reach_seconds)
    since = floor(work.since, MINUTE)
    return rows + write_group_windows(found["group_windows"], clusters, since, work.until, reach)


def _readings(found: dict[str, pa.Table]) -> int:
    return sum(found["counts"]["readings"].to_pylist())


def _write_states(found: dict[str, pa.Table], report: Report, durations: Durations) -> Report:
    queues, groups = found["queue_states"], found["group_states"]
    placed = write_queue_states(queues, report.clusters, report.until)
    recent = recent_volumes(report.until, timedelta(seconds=durations.reach_seconds))
    write_group_states(groups, report.clusters, report.until, recent)
    return replace(
        report,
        queues_judged=queues.num_rows,
        groups_judged=groups.num_rows,
        unknown_rows=queues.num_rows - placed,
    )


def _write_rebalances(
    lake: Lake, clusters: Sequence[str], since: datetime, until: datetime, durations: Durations
) -> int:
    found = find_rebalances(lake, clusters, since, until, durations)
    return 0 if found is None else write_rebalances(found.events, found.topics, found.spans, until)
