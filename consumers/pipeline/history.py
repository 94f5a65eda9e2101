"""Writes what a slice of time saw into the lake: produced knots, and windows of one and of ten minutes per queue."""

import logging
from collections.abc import Iterator
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings
from pyspark.sql import DataFrame

from consumers.lake.disk import below_floor
from consumers.lake.paths import file_name, hour_folder
from consumers.lake.reader import COMPACTED, folder_files
from consumers.lake.store import Lake
from consumers.lake.windows import put_window

from .durations import Durations
from .frames import Frames
from .knots import knots
from .pieces import ROWS_AT_ONCE, in_pieces
from .queue_arrays import TOPIC_QUEUE
from .rollup import rolled_up
from .slices import MINUTE, TEN_MINUTES, floor, microseconds
from .windows import queue_windows

logger = logging.getLogger(__name__)

TEN_MINUTES_SECONDS = 600


def write_knots(arrays: DataFrame, frames: Frames, since: datetime, until: datetime) -> None:
    found = in_pieces(knots(arrays, microseconds(since), microseconds(until)), arrays.count(), key=TOPIC_QUEUE)
    for cluster, minute, rows in _by_window(found, "minute"):
        keep_window(frames.lake, "knots", cluster, minute, rows)


def write_windows(arrays: DataFrame, frames: Frames, since: datetime, until: datetime, durations: Durations) -> int:
    """`since` is a whole minute. Returns the number of rows."""
    queues, written = arrays.count(), 0
    # A minute at a time where there are many queues: each minute is a file anyway.
    at_once = MINUTE * max(1, ROWS_AT_ONCE // max(queues, 1))
    start = since
    while start < until:
        end = min(start + at_once, until)
        windows = queue_windows(arrays, microseconds(start), microseconds(end), durations)
        found = in_pieces(windows, queues * -(-(end - start) // MINUTE))
        for cluster, at, rows in _by_window(found, "start"):
            keep_window(frames.lake, "windows_60", cluster, at, rows)
        written += found.num_rows
        start = end
    return written


def write_wide_windows(frames: Frames, since: datetime, until: datetime, queues: int) -> int:
    """The window of ten minutes that holds the slice: once it is over, and again when an earlier part of it is redone.

    Before it is over its minutes say the same, so a run of every thirty seconds need not read ten minutes of them.
    """
    start = floor(since, TEN_MINUTES)
    end = start + TEN_MINUTES
    if until < end and not any(_is_written(frames, cluster, start) for cluster in frames.clusters):
        return 0
    minutes = frames.table("windows_60", start, end)
    found = in_pieces(rolled_up(minutes, TEN_MINUTES_SECONDS), queues)
    for cluster, at, rows in _by_window(found, "start"):
        keep_window(frames.lake, "windows_600", cluster, at, rows)
    return found.num_rows


def keep_window(lake: Lake, table: str, cluster: str, at: datetime, rows: pa.Table) -> None:
    """Puts the rows into the lake, unless its disk is below the floor: then there is a gap, and /readyz says why."""
    floor_mib = settings.LAKE_DISK_FLOOR_MIB
    if below_floor(lake, floor_mib):
        logger.error(
            "The lake's disk has less than %s MiB free: %s of %s at %s is not kept.", floor_mib, table, cluster, at
        )
        return
    put_window(lake, table, cluster, at, rows)


def _is_written(frames: Frames, cluster: str, start: datetime) -> bool:
    names = folder_files(frames.lake, hour_folder("windows_600", cluster, start))
    return any(name.endswith((f"/{file_name(start)}", f"/{COMPACTED}")) for name in names)


def _by_window(rows: pa.Table, time: str) -> Iterator[tuple[str, datetime, pa.Table]]:
    """Each cluster's rows of each window."""
    for pair in rows.select(["cluster", time]).group_by(["cluster", time]).aggregate([]).to_pylist():
        at = pa.scalar(pair[time], rows.schema.field(time).type)
        chosen = pc.and_(pc.equal(rows["cluster"], pair["cluster"]), pc.equal(rows[time], at))
        yield pair["cluster"], pair[time], rows.filter(chosen)
