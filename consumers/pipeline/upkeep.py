"""Applies retention and compaction to the history, in the lake and in the database."""

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from django.conf import settings
from django.db.models import F, Model, Q, QuerySet

from consumers.lake import knot_days, reader, retention
from consumers.lake.retention import table_sizes
from consumers.lake.store import MIB, Lake, below_floor, free_mib
from consumers.lake.windows import put_window
from consumers.models import (
    Assignment,
    Client,
    ClientSubscription,
    Cluster,
    ConsumerGroup,
    DueWindow,
    GroupState,
    GroupWindow,
    HistorySize,
    MembershipGap,
    PipelineRun,
    Reading,
    Rebalance,
    RepeatEvent,
    State,
    StateChange,
)
from consumers.pipeline.kernel.readings import written_out

from .durations import Durations
from .group_rows import widen_groups
from .kernel.group_windows import wide_windows
from .kernel.segments import MINUTE_US
from .rows import Rows, Span, spans
from .slices import floor

# Windows of an hour and of a day, from the next finer ones: beside the runs, once their span is over.
#
# What is to be made is a row, written before the first of its finer windows is. So the cost goes by what is new, a
# backfill makes its hours and days anew, and what was left out while no worker ran is caught up.

logger = logging.getLogger(__name__)

HOUR_SECONDS, DAY_SECONDS = 3600, 86400
# What each is made from; the finest first.
FINER = {HOUR_SECONDS: 600, DAY_SECONDS: HOUR_SECONDS}
# Runs wait meanwhile. What is left is made at the next turn.
SECONDS_AT_ONCE = 10.0
# Finer windows in memory at once: about 300 MB of them.
ROWS_AT_ONCE = 1_000_000


def note_due(clusters: Sequence[str], at: datetime) -> None:
    """A window of ten minutes that holds `at` is about to be written: its hour and day are made (anew) afterwards."""
    DueWindow.objects.bulk_create(
        (
            DueWindow(cluster=cluster, step_seconds=step, start=floor(at, timedelta(seconds=step)))
            for cluster in Cluster.objects.filter(name__in=clusters)
            for step in FINER
        ),
        ignore_conflicts=True,
    )


def make_due(
    lake: Lake, now: datetime, margin: timedelta, reach: timedelta, seconds_at_once: float = SECONDS_AT_ONCE
) -> int:
    """Makes what is due and ended longer than `margin` ago, the oldest first: all hours, then days.
    Returns how many; after `seconds_at_once` the rest is left to the next turn.

    `reach`: how long before a window the reading may lie that its volumes count from.
    """
    made, until = 0, time.monotonic() + seconds_at_once
    for step in FINER:
        length = timedelta(seconds=step)
        closed = DueWindow.objects.filter(step_seconds=step, start__lte=now - margin - length).order_by("start")
        for due in closed.select_related("cluster"):
            if made and time.monotonic() >= until:
                logger.info("Hours and days are left to the next turn: %d were made.", made)
                return made
            _make(lake, due, length, reach)
            due.delete()
            made += 1
    return made


def _make(lake: Lake, due: DueWindow, length: timedelta, reach: timedelta) -> None:
    """Where no finer window is kept any more, what was made of them stays."""
    cluster, step, start, end = due.cluster, due.step_seconds, due.start, due.start + length
    rows = _merged(lake, cluster.name, step, start, end)
    if rows.num_rows:
        put_window(lake, f"windows_{step}", cluster.name, start, rows)
    # Groups have those of an hour from the run itself.
    if step == DAY_SECONDS:
        groups = set(ConsumerGroup.objects.filter(cluster=cluster).values_list("pk", flat=True))
        widen_groups(groups, FINER[step], step, start, end, reach)


def _merged(lake: Lake, cluster: str, step: int, start: datetime, end: datetime) -> pa.Table:
    table = f"windows_{FINER[step]}"

    def shares(names: list[str]) -> tuple[Span, ...]:
        rows = ds.dataset(names, format="parquet", filesystem=lake.filesystem).count_rows() if names else 0
        return spans(lake, names[-1:], -(-rows // ROWS_AT_ONCE))

    found = reader.steadily(lake, lambda: reader.files(lake, table, cluster, start, end), shares)
    parts = (Rows(lake, [cluster], span).table(table, start, end) for span in found)
    return pa.concat_tables(written_out(wide_windows(part, step)) for part in parts)


# How long a group's offsets usually stand still between two moves while it is behind: slow by habit is not stuck.
# Learned from the windows of a minute of the last hours, now and then and for some groups at a time: beside the runs,
# which then read one number a group. To the minute: what moves more often than that has a usual gap of a minute.

LEARNED_FROM = timedelta(hours=6)
LEARNED_AGAIN = timedelta(minutes=10)
GROUPS_AT_ONCE = 200
# A 95th percentile of fewer is the longest of a few.
LEAST_GAPS = 20
PERCENTILE = 95
QUEUE = ["group", "topic", "broker", "queue_id"]


def learn_usual_gaps(lake: Lake, now: datetime) -> int:
    """Of groups that are behind, those learned longest ago first. Returns how many were looked at."""
    behind = Q(time_lag_seconds__gt=0) | Q(state=State.STALL)
    due = Q(usual_gap_at=None) | Q(usual_gap_at__lte=now - LEARNED_AGAIN)
    order = F("usual_gap_at").asc(nulls_first=True)
    rows = list(
        GroupState.objects.filter(behind & due)
        .select_related("group__cluster")
        .order_by(order, "group_id")[:GROUPS_AT_ONCE]
    )
    by_cluster: dict[str, list[GroupState]] = {}
    for row in rows:
        by_cluster.setdefault(row.group.cluster.name, []).append(row)
    for cluster, states in by_cluster.items():
        learned = usual_gaps(_windows(lake, cluster, [row.group.name for row in states], now))
        for row in states:
            row.usual_gap_seconds, row.usual_gap_at = learned.get(row.group.name), now
    GroupState.objects.bulk_update(rows, ["usual_gap_seconds", "usual_gap_at"], batch_size=GROUPS_AT_ONCE)
    return len(rows)


def _windows(lake: Lake, cluster: str, groups: list[str], now: datetime) -> pa.Table:
    chosen = pc.field("group").isin(sorted(groups)) & (pc.field("kind") != "retry")
    columns = [*QUEUE, "start", "lag_messages", "consume_rate"]
    return reader.read(lake, "windows_60", cluster, now - LEARNED_FROM, now, columns=columns, filter=chosen)


def usual_gaps(windows: pa.Table) -> dict[str, float]:
    """By group the 95th percentile of the seconds between moves of its queues; groups with too few are left out.

    Between two minutes in which a queue moves there must be every minute, each behind and still.
    """
    rows = windows.sort_by([(name, "ascending") for name in (*QUEUE, "start")])
    if not rows.num_rows:
        return {}
    queue = _codes(rows)
    start = rows["start"].cast(pa.int64()).to_numpy()
    rate = pc.fill_null(rows["consume_rate"], np.nan).to_numpy()
    is_behind = pc.fill_null(pc.greater(rows["lag_messages"], 0), False).to_numpy(zero_copy_only=False)
    moves = np.flatnonzero(rate > 0)
    is_broken = ~((rate > 0) | ((rate == 0) & is_behind))
    broken = np.concatenate([[0], np.cumsum(is_broken)])
    first, second = moves[:-1], moves[1:]
    whole = (queue[first] == queue[second]) & is_behind[first] & (broken[first] == broken[second])
    gap = start[second] - start[first]
    whole &= gap == (second - first) * MINUTE_US
    groups = np.array(rows["group"].to_pylist(), object)[first[whole]]
    gaps = gap[whole] / 1e6
    found = {group: gaps[groups == group] for group in set(groups.tolist())}
    return {group: float(np.percentile(one, PERCENTILE)) for group, one in found.items() if len(one) >= LEAST_GAPS}


def _codes(rows: pa.Table) -> np.ndarray:
    """The same number for the rows of the same queue; `rows` are sorted by queue."""
    differs = np.zeros(rows.num_rows, bool)
    for name in QUEUE:
        values = rows[name].combine_chunks()
        differs[1:] |= pc.not_equal(values[1:], values[:-1]).to_numpy(zero_copy_only=False)
    return np.cumsum(differs)


# Measures from time to time how much room the history takes, for pages that must not look through it themselves.

EVERY = timedelta(minutes=50)
# A week has its quiet days.
DAYS = 7


def measure_history(lake: Lake, now: datetime) -> bool:
    """Unless it was done within the hour. What is stored: see HistorySize."""
    if HistorySize.objects.filter(measured_at__gt=now - EVERY, measured_at__lte=now).exists():
        return False
    began = time.monotonic()
    tables: dict[str, dict[str, object]] = {}
    for (cluster, table), size in table_sizes(lake).items():
        whole = [[day.isoformat(), count] for day, count in size.whole_days(now).items()]
        tables.setdefault(cluster, {})[table] = {
            "bytes": size.bytes,
            "first_day": min(size.days).isoformat(),
            "oldest_whole_day": whole[0] if whole else None,
            "newest_whole_days": whole[-DAYS:],
        }
    free = free_mib(lake)
    values = {"measured_at": now, "seconds": time.monotonic() - began, "tables": tables}
    values["free_bytes"] = None if free is None else int(free * MIB)
    HistorySize.objects.update_or_create(pk=1, defaults=values)
    return True


# A reading is written seconds after its time, and a run may still redo the last minutes of an hour.
MARGIN = timedelta(minutes=10)
KNOTS_KEPT = timedelta(days=30)
DELETED_AT_ONCE = 10_000
STEPS = (60, 600, 3600, 86400)
INTERVALS: tuple[type[Model], ...] = (Client, Assignment, ClientSubscription)


def retentions() -> dict[str, timedelta]:
    """How long each table of the lake is kept."""
    raw = timedelta(hours=settings.LAKE_RAW_HOURS)
    minutes = timedelta(days=settings.LAKE_MINUTE_WINDOW_DAYS)
    return {
        "readings": raw,
        "membership": raw,
        "ownership": raw,
        "stored_offsets": raw,
        "dead_letters": raw,
        "member_rates": minutes,
        "windows_60": minutes,
        "windows_600": timedelta(days=settings.LAKE_TEN_MINUTE_WINDOW_DAYS),
        "windows_3600": timedelta(days=settings.LAKE_HOUR_WINDOW_DAYS),
        "windows_86400": timedelta(days=settings.LAKE_DAY_WINDOW_DAYS),
        "knots": KNOTS_KEPT,
    }


def keep_up(lake: Lake, now: datetime, *, may_expire: bool) -> None:
    """Without `may_expire` nothing is deleted by age: the clock is in doubt."""
    retained, folders, rows = retentions(), 0, 0
    if may_expire:
        # What is old goes first: the whole of an hour needs room beside its parts.
        folders = retention.expire(lake, now, retained)
        rows = prune_rows(now, retained)
    learn_usual_gaps(lake, now)
    wide = hours = days = 0
    if below_floor(lake, settings.LAKE_DISK_FLOOR_MIB):
        logger.error("The lake's disk has less than %s MiB free: nothing is compacted.", settings.LAKE_DISK_FLOOR_MIB)
    else:
        durations = Durations.of(settings.JUDGE, settings.CONSUMERSCOPE_POLL_SECONDS)
        wide = make_due(lake, now, MARGIN, timedelta(seconds=durations.reach_seconds))
        hours = retention.compact(lake, now, MARGIN)
        days = knot_days.settle(lake, now)
    measure_history(lake, now)
    logger.info("%d windows of hours and days made, %d hours compacted, %d days settled.", wide, hours, days)
    logger.info("%d folders and %d rows expired.", folders, rows)


def prune_rows(now: datetime, retained: Mapping[str, timedelta]) -> int:
    """Deletes rows that are as old as the files that were deleted. Returns their number."""
    minute, ten_minutes = now - retained["windows_60"], now - retained["windows_600"]
    return sum(
        _delete(rows)
        for rows in (
            Reading.objects.filter(taken_at__lt=now - retained["readings"]),
            MembershipGap.objects.filter(ended_at__lt=now - retained["membership"]),
            PipelineRun.objects.filter(started_at__lt=minute),
            *(
                GroupWindow.objects.filter(step_seconds=step, start__lt=now - retained[f"windows_{step}"])
                for step in STEPS
            ),
            StateChange.objects.filter(at__lt=ten_minutes),
            Rebalance.objects.filter(started_before__lt=ten_minutes),
            RepeatEvent.objects.filter(last_at__lt=ten_minutes),
            # What still lasts is kept, however long ago it began.
            *(model._default_manager.filter(gone_by__lt=ten_minutes) for model in INTERVALS),
        )
    )


def _delete(rows: QuerySet) -> int:
    """In pieces: one statement over a million rows would keep every writer waiting."""
    deleted = 0
    while ids := list(rows.order_by().values_list("pk", flat=True)[:DELETED_AT_ONCE]):
        deleted += rows.model._default_manager.filter(pk__in=ids).delete()[0]
    return deleted
