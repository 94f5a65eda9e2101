"""Makes one sorted file of each closed hour, so that a page over two days opens dozens of files, not thousands.

The order of the steps is the contract: the whole hour is written aside, renamed to `hour.parquet` (from then on the
parts are invisible), and only then are the parts deleted. Killed anywhere, an hour is neither lost nor shown twice; the
next compaction finishes what was left.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from .paths import HOUR
from .reader import COMPACTED, TIME_COLUMN, folder_files
from .schemas import TABLES
from .store import Lake
from .thinning import thin

ORDER = ("group", "topic", "broker", "queue_id")
# Sorted at once in memory: about 1 GB of readings.
ROWS_AT_ONCE = 5_000_000
KNOT_STEP = timedelta(minutes=1)


def compact(lake: Lake, now: datetime, margin: timedelta, rows_at_once: int = ROWS_AT_ONCE) -> int:
    """Compacts every hour that ended longer than `margin` ago and is not one file yet. Returns their number."""
    compacted = 0
    for table in TABLES:
        for folder, hour in _hours(lake, table):
            if hour + HOUR + margin <= now and _is_unfinished(lake, folder):
                compact_hour(lake, table, folder, rows_at_once)
                compacted += 1
    return compacted


def compact_hour(lake: Lake, table: str, folder: str, rows_at_once: int = ROWS_AT_ONCE) -> None:
    parts = folder_files(lake, folder)
    if parts and not parts[0].endswith(f"/{COMPACTED}"):
        write_hour(lake, table, folder, parts, rows_at_once)
    delete_parts(lake, folder)


def write_hour(lake: Lake, table: str, folder: str, parts: list[str], rows_at_once: int = ROWS_AT_ONCE) -> None:
    """Writes the hour aside and renames it; `parts` remain."""
    source = ds.dataset(parts, schema=TABLES[table], format="parquet", filesystem=lake.filesystem)
    # A dot keeps the unfinished file invisible.
    aside = lake.path(f"{folder}/.{COMPACTED}.aside")
    with pq.ParquetWriter(
        aside, TABLES[table], filesystem=lake.filesystem, compression="zstd", coerce_timestamps="us"
    ) as writer:
        for chunk in _sorted_chunks(source, table, rows_at_once):
            writer.write_table(chunk, row_group_size=100_000)
    lake.filesystem.move(aside, lake.path(f"{folder}/{COMPACTED}"))


def delete_parts(lake: Lake, folder: str) -> None:
    """Deletes everything that `hour.parquet` replaced; does nothing where there is none."""
    entries = lake.filesystem.get_file_info(pafs.FileSelector(lake.path(folder), allow_not_found=True))
    if any(entry.base_name == COMPACTED for entry in entries):
        for entry in entries:
            if entry.base_name != COMPACTED:
                lake.filesystem.delete_file(entry.path)


def _sorted_chunks(source: ds.Dataset, table: str, rows_at_once: int) -> Iterator[pa.Table]:
    """The rows in order, a range of groups (or topics) at a time where all of them would not fit into memory."""
    names = TABLES[table].names
    by = [name for name in (*ORDER, TIME_COLUMN[table]) if name in names]
    if source.count_rows() <= rows_at_once:
        yield _in_order(source.to_table(), table, by)
        return
    first = pc.field(by[0])
    distinct = pc.unique(source.to_table(columns=[by[0]])[by[0]]).drop_null()
    values = np.sort(distinct.to_numpy(zero_copy_only=False).astype(str))
    pieces = min(len(values), -(-source.count_rows() // rows_at_once))
    for piece in np.array_split(values, pieces) if pieces else ():
        low, high = str(piece[0]), str(piece[-1])
        yield _in_order(source.to_table(filter=(first >= low) & (first <= high)), table, by)
    # No range holds a null; a sort puts it last.
    yield _in_order(source.to_table(filter=first.is_null()), table, by)


def _in_order(rows: pa.Table, table: str, by: list[str]) -> pa.Table:
    if table == "knots":
        return thin(rows, KNOT_STEP)
    return rows.sort_by([(name, "ascending") for name in by])


def _hours(lake: Lake, table: str) -> Iterator[tuple[str, datetime]]:
    """Every hour's folder of a table, relative to the lake, with its start."""
    selector = pafs.FileSelector(lake.path(table), recursive=True, allow_not_found=True)
    for entry in lake.filesystem.get_file_info(selector):
        if entry.type == pafs.FileType.Directory and entry.base_name.startswith("hour="):
            date = entry.path.rsplit("/", 2)[1].removeprefix("date=")
            day = datetime.strptime(date, "%Y-%m-%d").replace(tzinfo=UTC)
            hour = day + timedelta(hours=int(entry.base_name.removeprefix("hour=")))
            yield entry.path.removeprefix(f"{lake.root}/"), hour


def _is_unfinished(lake: Lake, folder: str) -> bool:
    entries = lake.filesystem.get_file_info(pafs.FileSelector(lake.path(folder), allow_not_found=True))
    return [entry.base_name for entry in entries] != [COMPACTED] and len(entries) > 0
