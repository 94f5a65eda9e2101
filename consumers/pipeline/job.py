"""One run of the pipeline over [since, until): asks the database what it knows, has the kernel do the work, writes what
it found.

The same range twice gives the same files and rows. Cost goes by the range: an ordinary run reads a few minutes.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings
from django.db.models import F, Max
from pyspark.sql import SparkSession

from consumers.lake import reader
from consumers.lake.knot_days import first_day
from consumers.lake.reader import folder_files
from consumers.lake.schemas import TEXT
from consumers.lake.store import COMPACTED, HOUR, Lake, below_floor, file_name, hour_folder
from consumers.lake.windows import put_window
from consumers.models import ConsumerGroup, GroupWindow
from consumers.polling.flags import GroupFlags, group_flags, retired_topics
from consumers.polling.members.membership import NO_ANSWER, PopAnswer, pop_answers
from consumers.vocabulary.states import Flag

from . import known
from .bucket import FAR, Work
from .durations import Durations
from .group_rows import group_ids, write_group_states, write_group_windows
from .inputs import SliceInputs
from .interruptions import unknown_since
from .kernel.anchors import ANCHORS
from .kernel.trend import minutes_needed
from .queue_rows import QueueIds, QueueStateWriting, StateRows
from .rebalance_rows import write_rebalances
from .rebalances.run import Rebalances, find_rebalances
from .repeats.run import find_repeats
from .slices import MINUTE, TEN_MINUTES, floor, has_ended, slices
from .spark import joined, run_buckets, spans_for
from .upkeep import note_due
from .volumes import appeared_topics, group_topics, recent_volumes

# What kinds of groups change in a judgement: small tables beside the queues, one row a group, one a retired topic.

HOUR_SECONDS = 3600
GROUPS = pa.schema(
    [
        ("cluster", TEXT),
        ("group", TEXT),
        ("known_type", TEXT),
        ("known_model", TEXT),
        ("is_ghost", pa.bool_()),
        ("is_paused", pa.bool_()),
        ("is_away", pa.bool_()),  # offline, by habit
        ("habit_limit_seconds", pa.float64()),  # null: how long it usually waits is not known
        ("outside_store", TEXT),
        ("has_unlisted_members", pa.bool_()),
        ("is_popping", pa.bool_()),
        ("unacked_messages", pa.int64()),  # null: not every member said so
        ("usual_gap_seconds", pa.float64()),  # null: not learned
        ("allowance_seconds", pa.float64()),  # null: as for every group
        ("behind_seconds", pa.float64()),
    ]
)
RETIRED = pa.schema([("cluster", TEXT), ("group", TEXT), ("topic", TEXT)])


@dataclass(frozen=True)
class KindRows:
    groups: pa.Table
    retired: pa.Table

    @classmethod
    def of(cls, clusters: Sequence[str], now: datetime, durations: Durations) -> "KindRows":
        found = (
            ConsumerGroup.objects.filter(cluster__name__in=clusters)
            .select_related("thresholds")
            # Of thousands of rows with many columns those that are asked for.
            .defer("sub_version", "members_changed_at", "settled_at")
            .annotate(cluster_name=F("cluster__name"), usual_gap_seconds=F("judged__usual_gap_seconds"))
        )
        groups, pops = list(found), pop_answers(found)
        flagged = [(row, group_flags(row, pops.get(row.pk, NO_ANSWER).pops, now, durations.kinds)) for row in groups]
        away = [row for row, flags in flagged if _is_away(row, flags)]
        waits = usual_waits(away, now, durations)
        rows = [_row(row, flags, pops.get(row.pk, NO_ANSWER), waits, durations) for row, flags in flagged]
        retired = [
            {"cluster": vars(row)["cluster_name"], "group": row.name, "topic": topic}
            for row in groups
            for topic in retired_topics(row, now, durations.kinds)
        ]
        return cls(pa.Table.from_pylist(rows, GROUPS), pa.Table.from_pylist(retired, RETIRED))


def usual_waits(away: Sequence[ConsumerGroup], now: datetime, durations: Durations) -> dict[int, float]:
    """By group id the longest time lag of the days before it went; without one that was known it is left out."""
    since = now - timedelta(days=durations.kinds.habit_days)
    before = GroupWindow.objects.filter(
        group__in=away, step_seconds=HOUR_SECONDS, start__gte=since, start__lt=F("group__offline_since")
    )
    longest = before.values("group").annotate(longest=Max("time_lag_seconds")).values_list("group", "longest")
    return {group: seconds for group, seconds in longest if seconds is not None}


def _is_away(row: ConsumerGroup, flags: GroupFlags) -> bool:
    return row.offline_since is not None and Flag.HABITUAL in flags and Flag.UNLISTED_MEMBERS not in flags


def _row(
    row: ConsumerGroup, flags: GroupFlags, pop: PopAnswer, waits: dict[int, float], durations: Durations
) -> dict[str, object]:
    usual = waits.get(row.pk)
    thresholds = getattr(row, "thresholds", None)
    return {
        "cluster": vars(row)["cluster_name"],
        "group": row.name,
        "known_type": row.consume_type,
        "known_model": row.message_model,
        "is_ghost": Flag.GHOST in flags,
        "is_paused": Flag.PAUSED in flags,
        "is_away": _is_away(row, flags),
        "habit_limit_seconds": None if usual is None else usual * durations.habit_wait_factor,
        "outside_store": row.outside_store,
        "has_unlisted_members": Flag.UNLISTED_MEMBERS in flags,
        "is_popping": Flag.POP in flags,
        "unacked_messages": pop.unacked_messages,
        "usual_gap_seconds": vars(row)["usual_gap_seconds"],
        "allowance_seconds": thresholds.allowance_seconds if thresholds else None,
        "behind_seconds": thresholds.behind_seconds if thresholds else None,
    }


# Writes what a slice of time saw into the lake: produced knots, and windows of one and of ten minutes per queue.

logger = logging.getLogger(__name__)


def write_knots(lake: Lake, knots: pa.Table) -> None:
    """`knots`: with the minute whose file each belongs into. Two buckets may have seen the same."""
    for cluster, minute, rows in _by_window(knots, "minute"):
        keep_window(lake, "knots", cluster, minute, rows)


def write_windows(lake: Lake, windows: pa.Table) -> int:
    """Of one or ten minutes. Returns the number of rows."""
    for cluster, at, rows in _by_window(windows, "start"):
        table = f"windows_{rows['step_seconds'][0].as_py()}"
        keep_window(lake, table, cluster, at, rows)
    return windows.num_rows


def is_wide_due(lake: Lake, clusters: Sequence[str], since: datetime, until: datetime) -> bool:
    """Whether to make the window of ten minutes that holds the slice: once the window is complete, and again when an
    earlier part of it is made again. Before that its minutes hold the same numbers, so a run every 30 s need not read
    ten minutes of them."""
    start = floor(since, TEN_MINUTES)
    return until >= start + TEN_MINUTES or any(_is_written(lake, cluster, start) for cluster in clusters)


def keep_window(lake: Lake, table: str, cluster: str, at: datetime, rows: pa.Table) -> None:
    """Puts the rows into the lake, unless its disk is below the floor: then there is a gap, and /readyz says why."""
    floor_mib = settings.LAKE_DISK_FLOOR_MIB
    if below_floor(lake, floor_mib):
        logger.error(
            "The lake's disk has less than %s MiB free: %s of %s at %s is not kept.", floor_mib, table, cluster, at
        )
        return
    put_window(lake, table, cluster, at, rows)


def _is_written(lake: Lake, cluster: str, start: datetime) -> bool:
    names = folder_files(lake, hour_folder("windows_600", cluster, start))
    return any(name.endswith((f"/{file_name(start)}", f"/{COMPACTED}")) for name in names)


def _by_window(rows: pa.Table, time: str) -> Iterator[tuple[str, datetime, pa.Table]]:
    """Each cluster's rows of each window."""
    for pair in rows.select(["cluster", time]).group_by(["cluster", time]).aggregate([]).to_pylist():
        at = pa.scalar(pair[time], rows.schema.field(time).type)
        chosen = pc.and_(pc.equal(rows["cluster"], pair["cluster"]), pc.equal(rows[time], at))
        yield pair["cluster"], pair[time], rows.filter(chosen)


@dataclass
class Anchors:
    """What time lags were found at, from run to run of a process; see kernel/anchors.py. Lost with the process, they
    are found anew. Those of offsets below all history hold as long as it begins where it did, at `first_days`."""

    table: pa.Table = field(default_factory=ANCHORS.empty_table)
    first_days: list[str | None] = field(default_factory=list)

    def at(self, lake: Lake, clusters: Sequence[str], until: datetime) -> pa.Table:
        """Those that hold in a slice which ends at `until`."""
        first_days = [first_day(lake, cluster, until - FAR) for cluster in clusters]
        if first_days != self.first_days:
            self.table = self.table.filter(pc.invert(self.table["is_oldest"]))
        self.first_days = first_days
        return self.table


@dataclass
class RunCache:
    """What a process keeps from run to run: it saves work, and decides nothing."""

    anchors: Anchors = field(default_factory=Anchors)
    queue_ids: QueueIds = field(default_factory=QueueIds)
    states: StateRows = field(default_factory=StateRows)


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
    repeats: int = 0  # that the range has a part of
    unknown_rows: int = 0  # judged, but without a row of the poll to hang the state on


def run(
    spark: SparkSession,
    lake: Lake,
    clusters: Sequence[str],
    since: datetime,
    until: datetime,
    durations: Durations,
    kept: RunCache | None = None,
) -> Report:
    """Windows of the whole range, states at its end. `kept`: what the run before this one left in this process."""
    kinds = KindRows.of(clusters, until, durations)
    kept = kept or RunCache()
    report = Report(clusters, since, until)
    falls: list[pa.Table] = []
    for start, end in slices(since, until):
        work = _work(spark, lake, report, start, end, kinds, durations, kept)
        report, found = _write_slice(lake, work, run_buckets(spark, work), report, kept)
        kept.anchors.table = found["anchors"]
        falls.append(found["falls"])
    rebalances = find_rebalances(lake, clusters, since, until, durations)
    report = replace(report, rebalances=_write_rebalances(rebalances, until))
    fell = pa.concat_tables(falls) if falls else None
    spans = None if rebalances is None else rebalances.spans
    return replace(report, repeats=find_repeats(lake, clusters, since, until, fell, spans, durations))


def _work(
    spark: SparkSession,
    lake: Lake,
    report: Report,
    since: datetime,
    until: datetime,
    kinds: KindRows,
    durations: Durations,
    cache: RunCache,
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
        facts=_facts(clusters, since, until, kinds, durations, cache.anchors.at(lake, clusters, until)),
        spans=spans_for(lake, names, spark.sparkContext.defaultParallelism, (until - reach) / HOUR),
        is_last=until == report.until,
        is_wide=is_wide_due(lake, clusters, since, until),
    )


def _facts(
    clusters: Sequence[str], since: datetime, until: datetime, kinds: KindRows, durations: Durations, anchors: pa.Table
) -> SliceInputs:
    reach = since - timedelta(seconds=durations.lookback_seconds)
    read = known.BrokersRead(clusters, reach, until + MINUTE)
    brokers = list(read.unread(reach, until))
    silent = [known.silent_queues(brokers), known.unreported_queues(clusters, reach, besides=brokers)]
    start = floor(since, MINUTE)
    course = minutes_needed(durations) * MINUTE
    return SliceInputs(
        known.known_rows(clusters, kinds.groups, known.set_by_hand(clusters, reach - course, until)),
        retired=kinds.retired,
        silent=pa.concat_tables(silent),
        appeared=appeared_topics(clusters, reach, until, timedelta(seconds=durations.reach_seconds)),
        unread=known.unread_groups(read, start, until),
        topics=group_topics(clusters),
        anchors=anchors,
    )


def _write_slice(
    lake: Lake, work: Work, parts: Iterable[dict[str, pa.Table]], report: Report, cache: RunCache
) -> tuple[Report, dict[str, pa.Table]]:
    """Rows as the buckets come, files once all are there. Returns what is left of the tables, too."""
    reach = timedelta(seconds=work.durations.reach_seconds)
    groups, since = group_ids(work.clusters), floor(work.since, MINUTE)
    states = _Judged(work, cache) if work.is_last else None
    windows, rest = 0, []
    for part in parts:
        windows += write_group_windows(part.pop("group_windows"), groups, since, work.until, reach)
        if states is not None:
            states.write(part.pop("queue_states"))
        rest.append(part)
    found = joined(rest)
    if work.is_wide:
        note_due(work.clusters, work.since)
    # While files are packed, the database takes the rest.
    with ThreadPoolExecutor(1, "files") as pool:
        files = pool.submit(_write_files, lake, found.pop("knots"), found.pop("windows_60"), found.pop("windows_600"))
        if states is not None:
            report = states.end(found["group_states"], report)
        windows += files.result()
    readings = sum(found["counts"]["readings"].to_pylist())
    return replace(report, windows=report.windows + windows, readings=report.readings + readings), found


def _write_files(lake: Lake, knots: pa.Table, minutes: pa.Table, ten_minutes: pa.Table) -> int:
    """Returns the number of windows."""
    write_knots(lake, knots)
    return write_windows(lake, minutes) + write_windows(lake, ten_minutes)


class _Judged:
    """The states at the end of a run."""

    def __init__(self, work: Work, cache: RunCache) -> None:
        self._work, self._queue_ids = work, cache.queue_ids.of(work.clusters)
        self._interrupted = unknown_since(work.clusters, work.until, work.durations)
        self._queues = QueueStateWriting(
            work.clusters, work.until, self._queue_ids, cache.states, self._interrupted.keys()
        )
        self._judged = self._placed = 0

    def write(self, queues: pa.Table) -> None:
        self._judged += queues.num_rows
        self._placed += self._queues.write(queues)

    def end(self, groups: pa.Table, report: Report) -> Report:
        self._queues.end()
        until, reach = self._work.until, timedelta(seconds=self._work.durations.reach_seconds)
        # They are of whole minutes: until the next one is over, what the run before wrote holds.
        is_over = has_ended(MINUTE, self._work.asked_since, until)
        recent = recent_volumes(until, reach) if is_over else None
        write_group_states(groups, self._work.clusters, until, recent, self._queue_ids, self._interrupted)
        unplaced = self._judged - self._placed
        return replace(report, queues_judged=self._judged, groups_judged=groups.num_rows, unknown_rows=unplaced)


def _write_rebalances(found: Rebalances | None, until: datetime) -> int:
    return 0 if found is None else write_rebalances(found.events, found.topics, found.spans, until)
