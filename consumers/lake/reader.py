"""Which files of a table hold a stretch of time, and their rows.

A compacted hour is one file, `hour.parquet`; from the moment it exists the parts that it says it is made of are
invisible, and so are names that begin with a dot. A part that came later stands beside it until it is taken in. The
folders of the hours are looked up by name, and so are files of one time: none outside the range is opened. An hour may
be swapped while it is read: its files are looked up again then, so that nothing is missing or there twice.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs

from .paths import folders_between, hour_folder, is_within
from .schemas import TABLES
from .store import Lake
from .unreadable import is_cut_off, is_local, is_of_a_file, put_aside, put_aside_unreadable, why_not_ours
from .whole_hour import merged_parts

COMPACTED = "hour.parquet"
# An hour is swapped once, and a run swaps one hour after another: the second look finds it.
LOOKS = 10

Found = TypeVar("Found")

# Files that were found whole by this process: they are not opened again for that.
MOST_LOOKED_AT = 200_000
_looked_at: set[tuple[str, int, int]] = set()


class LakeUnsteady(OSError):
    """Files went away again and again while they were looked up or read."""


# The column by which a table's rows are in time.
TIME_COLUMN = {
    "readings": "taken_at",
    "membership": "taken_at",
    "ownership": "taken_at",
    "stored_offsets": "taken_at",
    "dead_letters": "taken_at",
    "windows_60": "start",
    "windows_600": "start",
    "windows_3600": "start",
    "windows_86400": "start",
    "knots": "at",
}


def files(lake: Lake, table: str, cluster: str, since: datetime, until: datetime) -> list[str]:
    """Full names, as pyarrow knows them, of the files that may have rows of [since, until), by their hours and names.

    A file of knots is named after a minute, and the knot before the range counts: of them all of each hour.
    """
    found: list[str] = []
    for start in folders_between(table, since, until):
        found += folder_files(lake, hour_folder(table, cluster, start))
    return found if table == "knots" else [name for name in found if is_within(name, since, until)]


def folder_files(lake: Lake, folder: str) -> list[str]:
    """The visible files of one hour's folder, in the order of their names.

    A folder that is looked through while its hour is swapped may show neither the whole nor all parts. Two looks that
    agree show what was there: the whole is put there before the first part goes.
    """
    names = _visible(lake, folder)
    for _ in range(LOOKS):
        if (names and names[0].endswith(f"/{COMPACTED}")) or names == (again := _visible(lake, folder)):
            whole = whole_files(lake, names)
            if whole == names:
                return names
            # Where the hour's one file was put aside, its parts may be there still.
            names = _visible(lake, folder)
            continue
        names = again
    raise LakeUnsteady(f"The files of {folder} change all the time: is more than one pipeline running?")


def steadily(lake: Lake, find: Callable[[], list[str]], scan: Callable[[list[str]], Found]) -> Found:
    """What `scan` makes of the files that `find` gives; both once more where a file went away in between, or was put
    aside as it cannot be read."""
    names: list[str] = []
    gone: Exception | None = None
    for _ in range(LOOKS):
        try:
            names = find()
            found = scan(names)
            if not _has_late_parts(names) or set(names) <= set(find()):
                return found
        except FileNotFoundError as error:
            gone = error
        except (pa.ArrowException, OSError) as error:
            if not is_of_a_file(lake, error) or not put_aside_unreadable(lake, names):
                raise
            gone = error
    raise LakeUnsteady(f"Files go away all the time: is more than one pipeline running? {gone}")


def whole_files(lake: Lake, names: Sequence[str]) -> list[str]:
    """Without those whose end is missing, and files of somebody else, which are put aside: one of the first would fail
    every read of its hour, and of one of the second nobody would know."""
    return [name for name in names if not _was_put_aside(lake, name)]


def _was_put_aside(lake: Lake, name: str) -> bool:
    if not is_local(lake):
        # Stores of objects keep a file whole or not at all.
        return False
    try:
        found = Path(name).stat()
        looked_at = (name, found.st_size, found.st_mtime_ns)
        if looked_at in _looked_at:
            return False
        reason = "its end is missing" if is_cut_off(name) else why_not_ours(lake, name)
    except FileNotFoundError:
        # It was swapped in this very moment: whoever opens it looks again.
        return False
    if reason is not None:
        put_aside(lake, name, reason)
        return True
    if len(_looked_at) >= MOST_LOOKED_AT:
        _looked_at.clear()
    _looked_at.add(looked_at)
    return False


def _visible(lake: Lake, folder: str) -> list[str]:
    selector = pafs.FileSelector(lake.path(folder), allow_not_found=True)
    names = sorted(
        entry.path
        for entry in lake.filesystem.get_file_info(selector)
        if entry.type == pafs.FileType.File and entry.base_name.endswith(".parquet") and entry.base_name[0] != "."
    )
    whole = next((name for name in names if name.endswith(f"/{COMPACTED}")), None)
    return names if whole is None else [whole, *_late_parts(lake, whole, names)]


def _late_parts(lake: Lake, whole: str, names: Sequence[str]) -> list[str]:
    """Parts beside the whole that are not in it. The clock was set back into an hour that was over, or the writer was
    stopped for a while."""
    others = [name for name in names if name != whole]
    if not others:
        return []
    try:
        merged = merged_parts(lake, whole)
    except (pa.ArrowException, OSError):
        # Whoever opens it finds it gone or unreadable, and looks again.
        return []
    return [] if merged is None else [name for name in others if name.rsplit("/", 1)[1] not in merged]


def _has_late_parts(names: Sequence[str]) -> bool:
    """One of them may be taken into the whole while both are read, and is there twice then."""
    wholes = {name.removesuffix(COMPACTED) for name in names if name.endswith(f"/{COMPACTED}")}
    return any(not name.endswith(f"/{COMPACTED}") and f"{name.rsplit('/', 1)[0]}/" in wholes for name in names)


def urls(lake: Lake, names: Sequence[str]) -> list[str]:
    """The same files as Spark names them."""
    return [f"{lake.url}{name.removeprefix(lake.root)}" for name in names]


def read(
    lake: Lake,
    table: str,
    cluster: str,
    since: datetime,
    until: datetime,
    columns: Sequence[str] | None = None,
    filter: pc.Expression | None = None,
) -> pa.Table:
    """The rows of [since, until), narrowed to `columns` and by `filter` before they are decoded."""
    time = pc.field(TIME_COLUMN[table])
    within = (time >= pa.scalar(since, pa.timestamp("us", tz="UTC"))) & (
        time < pa.scalar(until, pa.timestamp("us", tz="UTC"))
    )

    def rows(names: list[str]) -> pa.Table:
        return dataset(lake, table, names).to_table(
            columns=list(columns) if columns else None, filter=within if filter is None else within & filter
        )

    return steadily(lake, lambda: files(lake, table, cluster, since, until), rows)


def dataset(lake: Lake, table: str, names: Sequence[str]) -> ds.Dataset:
    return ds.dataset(list(names), schema=TABLES[table], format="parquet", filesystem=lake.filesystem)
