"""Makes one sorted file of each closed hour, so that a page over two days opens dozens of files, not thousands.

The order of the steps is the contract: the whole hour appears as `hour.parquet` (from then on the parts are invisible),
and only then are the parts deleted. Killed anywhere, an hour is neither lost nor shown twice; the
next compaction finishes what was left. The file names the parts that it is made of, so that one that came late (the
writer was stopped for a while) is taken in, and never taken for one that is in it.
"""

import logging
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs

from .paths import folder_end
from .reader import COMPACTED, TIME_COLUMN, dataset, whole_files
from .schemas import TABLES
from .store import Lake
from .thinning import thin
from .unreadable import is_of_a_file, put_aside_unreadable
from .whole_hour import merged_parts, parts_note, rows_in_group

logger = logging.getLogger(__name__)

ORDER = ("group", "topic", "broker", "queue_id")
# Sorted at once in memory: about 1 GB of readings.
ROWS_AT_ONCE = 5_000_000
KNOT_STEP = timedelta(minutes=1)


def compact(lake: Lake, now: datetime, margin: timedelta, rows_at_once: int = ROWS_AT_ONCE) -> int:
    """Compacts every hour that ended longer than `margin` ago and is not one file yet, and so the days and months of
    tables whose folders hold those. Returns their number."""
    compacted = 0
    for table in TABLES:
        for folder, start in _hours(lake, table):
            if folder_end(table, start) + margin <= now and _is_unfinished(lake, folder):
                compacted += _compact_what_can_be_read(lake, table, folder, rows_at_once)
    return compacted


def _compact_what_can_be_read(lake: Lake, table: str, folder: str, rows_at_once: int) -> bool:
    """One hour that cannot be compacted keeps no other from it. False where nothing came of it."""
    for _ in range(2):
        try:
            compact_hour(lake, table, folder, rows_at_once)
            return True
        except (pa.ArrowException, OSError) as error:
            if not is_of_a_file(lake, error):
                raise
            logger.exception("%s could not be compacted.", folder)
            whole = lake.path(f"{folder}/{COMPACTED}")
            is_there = lake.filesystem.get_file_info(whole).type == pafs.FileType.File
            if not put_aside_unreadable(lake, [*_parts(lake, folder), *([whole] if is_there else [])]):
                break
    return False


def compact_hour(lake: Lake, table: str, folder: str, rows_at_once: int = ROWS_AT_ONCE) -> None:
    whole = lake.path(f"{folder}/{COMPACTED}")
    # What is cut off is put aside before anything that it would replace is deleted.
    names = whole_files(lake, _parts(lake, folder))
    if lake.filesystem.get_file_info(whole).type == pafs.FileType.File:
        whole_files(lake, [whole])
    if lake.filesystem.get_file_info(whole).type == pafs.FileType.NotFound:
        if names:
            write_hour(lake, table, folder, names, set(), rows_at_once)
    elif (merged := merged_parts(lake, whole)) is not None and (late := [n for n in names if _base(n) not in merged]):
        write_hour(lake, table, folder, [whole, *late], merged, rows_at_once)
    delete_parts(lake, folder)


def write_hour(
    lake: Lake,
    table: str,
    folder: str,
    names: Sequence[str],
    merged: Collection[str] = (),
    rows_at_once: int = ROWS_AT_ONCE,
) -> None:
    """Writes the rows of the files as one. `merged`: the parts of a whole that is among the files."""
    parts = {*merged, *(_base(name) for name in names if _base(name) != COMPACTED)}
    source = dataset(lake, table, names)
    size = rows_in_group(source.count_rows())
    with lake.new_file(f"{folder}/{COMPACTED}", TABLES[table]) as writer:
        for chunk in _sorted_chunks(source, table, rows_at_once):
            writer.write_table(chunk, row_group_size=size)
        writer.add_key_value_metadata(parts_note(parts))


def delete_parts(lake: Lake, folder: str) -> None:
    """Deletes what `hour.parquet` replaced, and what was never finished; does nothing where there is no such file."""
    whole = lake.path(f"{folder}/{COMPACTED}")
    if lake.filesystem.get_file_info(whole).type == pafs.FileType.NotFound:
        return
    merged = merged_parts(lake, whole)
    entries = lake.filesystem.get_file_info(pafs.FileSelector(lake.path(folder)))
    named = [(entry.path, entry.base_name) for entry in entries if entry.base_name != COMPACTED]
    lake.delete_files(path for path, name in named if merged is None or name in merged or name.startswith("."))


def _parts(lake: Lake, folder: str) -> list[str]:
    """Every finished file of the folder but the whole, whether readers see it or not."""
    entries = lake.filesystem.get_file_info(pafs.FileSelector(lake.path(folder), allow_not_found=True))
    names = (entry.path for entry in entries if entry.base_name.endswith(".parquet") and entry.base_name[0] != ".")
    return sorted(name for name in names if _base(name) != COMPACTED)


def _base(name: str) -> str:
    return name.rsplit("/", 1)[1]


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
