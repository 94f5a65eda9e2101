"""Writes what a slice of time saw into the lake: produced knots, and windows of one and of ten minutes per queue."""

from collections.abc import Iterator
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from consumers.lake.paths import file_name, hour_folder
from consumers.lake.reader import COMPACTED, folder_files
from consumers.lake.windows import put_window

from .durations import Durations
from .frames import Frames
from .knots import knots
from .rollup import rolled_up
from .slices import TEN_MINUTES, floor, microseconds
from .windows import queue_windows

TEN_MINUTES_SECONDS = 600


def write_knots(arrays: DataFrame, frames: Frames, since: datetime, until: datetime) -> None:
    found = knots(arrays, microseconds(since), microseconds(until)).toArrow()
    for cluster, minute, rows in _by_window(found, "minute"):
        put_window(frames.lake, "knots", cluster, minute, rows)


def write_windows(arrays: DataFrame, frames: Frames, since: datetime, until: datetime, durations: Durations) -> int:
    """`since` is a whole minute. Returns the number of rows."""
    found = queue_windows(arrays, microseconds(since), microseconds(until), durations).toArrow()
    for cluster, start, rows in _by_window(found, "start"):
        put_window(frames.lake, "windows_60", cluster, start, rows)
    return found.num_rows


def write_wide_windows(frames: Frames, since: datetime, until: datetime) -> int:
    """The window of ten minutes that holds the slice: once it is over, and again when an earlier part of it is redone.

    Before it is over its minutes say the same, so a run of every thirty seconds need not read ten minutes of them.
    """
    start = floor(since, TEN_MINUTES)
    end = start + TEN_MINUTES
    if until < end and not any(_is_written(frames, cluster, start) for cluster in frames.clusters):
        return 0
    found = rolled_up(frames.table("windows_60", start, end), TEN_MINUTES_SECONDS).toArrow()
    for cluster, at, rows in _by_window(found, "start"):
        put_window(frames.lake, "windows_600", cluster, at, rows)
    return found.num_rows


def _is_written(frames: Frames, cluster: str, start: datetime) -> bool:
    names = folder_files(frames.lake, hour_folder("windows_600", cluster, start))
    return any(name.endswith((f"/{file_name(start)}", f"/{COMPACTED}")) for name in names)


def _by_window(rows: pa.Table, time: str) -> Iterator[tuple[str, datetime, pa.Table]]:
    """Each cluster's rows of each window."""
    for pair in rows.select(["cluster", time]).group_by(["cluster", time]).aggregate([]).to_pylist():
        at = pa.scalar(pair[time], rows.schema.field(time).type)
        chosen = pc.and_(pc.equal(rows["cluster"], pair["cluster"]), pc.equal(rows[time], at))
        yield pair["cluster"], pair[time], rows.filter(chosen)
