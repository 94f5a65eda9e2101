"""History that lies in times which have yet to come, as a clock that was ahead leaves it: set aside, not deleted.

It lies under `future/` in the lake's folder, by the path that it had, and goes with the hour that it lies in. Left
where it was, it would stand beside what will be read at those times, and offsets would seem to go back.
"""

from collections.abc import Iterator
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs

from .paths import folder_start
from .reader import TIME_COLUMN, dataset
from .schemas import TABLES, TIME
from .store import Lake
from .whole_hour import rows_in_group

FOLDER = "future"


def set_future_aside(lake: Lake, now: datetime) -> int:
    """Every file with a row of a time after `now`; its other rows stay. Returns the number of files."""
    moved = 0
    for table in TABLES:
        for name in _files_since(lake, table, folder_start(table, now)):
            moved += _set_aside(lake, table, name, now)
    return moved


def _files_since(lake: Lake, table: str, hour: datetime) -> Iterator[str]:
    """A day of knots that was settled lies in its first hour."""
    day, hours = f"date={hour:%Y-%m-%d}", "" if table == "knots" else f"hour={hour:%H}"
    for cluster in _entries(lake, lake.path(table), pafs.FileType.Directory):
        for date in _entries(lake, cluster.path, pafs.FileType.Directory):
            for folder in _entries(lake, date.path, pafs.FileType.Directory) if date.base_name >= day else ():
                if date.base_name > day or folder.base_name >= hours:
                    files = _entries(lake, folder.path, pafs.FileType.File)
                    yield from (one.path for one in files if one.base_name.endswith(".parquet"))


def _set_aside(lake: Lake, table: str, name: str, now: datetime) -> bool:
    """What stays of a file is written before it goes: killed in between, the next turn does the rest."""
    within = name.removeprefix(f"{lake.root}/")
    folder, base = within.rsplit("/", 1)
    if base.startswith("."):
        return False
    time, source = TIME_COLUMN[table], dataset(lake, table, [name])
    kept = source.to_table(filter=pc.field(time) <= pa.scalar(now, TIME))
    if kept.num_rows == source.count_rows():
        return False
    target = lake.path(f"{FOLDER}/{within}")
    lake.make_folder_of(target)
    lake.filesystem.copy_file(name, target)
    if kept.num_rows:
        # The hour goes on, so that its file is one part of it, before all that are still to come. Its name is not that
        # of a file of one time.
        part = f"{folder}/00-kept.parquet"
        lake.write(kept, part, TABLES[table], rows_in_group(kept.num_rows))
        if lake.path(part) == name:
            return True
    lake.filesystem.delete_file(name)
    return True


def _entries(lake: Lake, path: str, kind: pafs.FileType) -> list[pafs.FileInfo]:
    found = lake.filesystem.get_file_info(pafs.FileSelector(path, allow_not_found=True))
    return sorted((entry for entry in found if entry.type == kind), key=lambda entry: str(entry.path))
