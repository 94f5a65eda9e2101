"""Writes what a slice of time saw into the lake: produced knots, and windows of one and of ten minutes per queue."""

import logging
from collections.abc import Iterator, Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings

from consumers.lake.disk import below_floor
from consumers.lake.paths import file_name, hour_folder
from consumers.lake.reader import COMPACTED, folder_files
from consumers.lake.store import Lake
from consumers.lake.windows import put_window

from .slices import TEN_MINUTES, floor

logger = logging.getLogger(__name__)


def write_knots(lake: Lake, knots: pa.Table) -> None:
    """`knots`: with the minute whose file each belongs into. Two buckets may have seen the same."""
    for cluster, minute, rows in _by_window(knots, "minute"):
        keep_window(lake, "knots", cluster, minute, rows.group_by(rows.column_names).aggregate([]))


def write_windows(lake: Lake, windows: pa.Table) -> int:
    """Of one or ten minutes. Returns the number of rows."""
    for cluster, at, rows in _by_window(windows, "start"):
        table = f"windows_{rows['step_seconds'][0].as_py()}"
        keep_window(lake, table, cluster, at, rows)
    return windows.num_rows


def is_wide_due(lake: Lake, clusters: Sequence[str], since: datetime, until: datetime) -> bool:
    """Whether the window of ten minutes that holds the slice is made: once it is over, and again when an earlier part
    of it is redone.

    Before it is over its minutes say the same, so a run of every thirty seconds need not read ten minutes of them.
    """
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
