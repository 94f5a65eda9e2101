"""Finds the files of a table for a time range, and reads their rows.

A compacted hour is one file, `hour.parquet`; from the moment it exists the parts that it says it is made of are
invisible, and so are names that begin with a dot. A part that came later stands beside it until it is taken in. The
folders of the hours are looked up by name, and so are files of one time: none outside the range is opened. An hour may
be swapped while it is read: its files are looked up again then, so that nothing is missing or there twice.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs

from .schemas import TABLES, TIME
from .store import (
    COMPACTED,
    DAY,
    REQUESTS_AT_ONCE,
    Lake,
    cluster_folder,
    file_name,
    folder_end,
    folders_between,
    hour_folder,
    is_gone,
    is_within,
    merged_parts,
)
from .unreadable import is_cut_off, is_local, is_of_a_file, put_aside, put_aside_unreadable, why_not_ours

# An hour is swapped once, and a run swaps one hour after another: the second look finds it.
LOOKS = 10

# In an object store so many hours are listed one by one, and so many days; of more, all that the cluster has.
HOURS_EACH, DAYS_EACH = 2, 4
# In a folder of a machine's disk so many hours are looked for by name.
FOLDERS_EACH = 24
# Of a longer range it is looked up first which days are there.
LONG = timedelta(days=31)

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
    "member_rates": "taken_at",
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
    since_there, until_there = _days_there(lake, table, cluster, since, until)
    folders = [hour_folder(table, cluster, start) for start in folders_between(table, since_there, until_there)]
    if lake.is_object_store and len(folders) > HOURS_EACH:
        found = _files_of_many_hours(lake, table, cluster, folders)
    elif len(folders) > FOLDERS_EACH:
        found = _files_of_those_there(lake, folders)
    else:
        found = [name for folder in folders for name in folder_files(lake, folder)]
    return found if table == "knots" else [name for name in found if is_within(name, since, until)]


def _days_there(lake: Lake, table: str, cluster: str, since: datetime, until: datetime) -> tuple[datetime, datetime]:
    """The part of a long range within which the table has folders: of years each hour would be looked up by name."""
    if until - since <= LONG:
        return since, until
    selector = pafs.FileSelector(lake.path(cluster_folder(table, cluster)), allow_not_found=True)
    days = [entry.base_name.removeprefix("date=") for entry in lake.filesystem.get_file_info(selector)]
    if not days:
        return since, since
    first, last = (datetime.fromisoformat(f"{day}T00:00:00+00:00") for day in (min(days), max(days)))
    return max(since, first), min(until, folder_end(table, last) + DAY)


def _files_of_those_there(lake: Lake, folders: Sequence[str]) -> list[str]:
    """Returns the files of the folders that exist. Looks which folders exist before and after listing them, because a
    day may move into another folder meanwhile."""
    for _ in range(LOOKS):
        there = _those_there(lake, folders)
        names = [name for folder in there for name in folder_files(lake, folder)]
        if there == _those_there(lake, folders):
            return names
    raise LakeUnsteady(f"The folders from {folders[0]} to {folders[-1]} change all the time.")


def _those_there(lake: Lake, folders: Sequence[str]) -> list[str]:
    days = dict.fromkeys(folder.rsplit("/", 1)[0] for folder in folders)
    selectors = (pafs.FileSelector(lake.path(day), allow_not_found=True) for day in days)
    found = {entry.path for selector in selectors for entry in lake.filesystem.get_file_info(selector)}
    return [folder for folder in folders if lake.path(folder) in found]


def _files_of_many_hours(lake: Lake, table: str, cluster: str, folders: Sequence[str]) -> list[str]:
    """A listing tells of a thousand objects in all folders below: hour after hour, a month would be 1,400 requests."""
    days = sorted({folder.rsplit("/", 1)[0] for folder in folders})
    listed = days if len(days) <= DAYS_EACH else [cluster_folder(table, cluster)]

    def look() -> list[str]:
        found: dict[str, list[pafs.FileInfo]] = {lake.path(folder): [] for folder in folders}
        for above in listed:
            selector = pafs.FileSelector(lake.path(above), recursive=True, allow_not_found=True)
            for entry in lake.filesystem.get_file_info(selector):
                found.get(entry.path.rsplit("/", 1)[0], []).append(entry)
        return [name for entries in found.values() for name in _visible_of(lake, entries)]

    return _steady(lake, look, cluster_folder(table, cluster))


def folder_files(lake: Lake, folder: str) -> list[str]:
    """The visible files of one hour's folder, in the order of their names.

    A folder that is looked through while its hour is swapped may show neither the whole nor all parts. Two looks that
    agree show what was there: the whole is put there before the first part goes.
    """

    def look() -> list[str]:
        selector = pafs.FileSelector(lake.path(folder), allow_not_found=True)
        return _visible_of(lake, lake.filesystem.get_file_info(selector))

    return _steady(lake, look, folder)


def _steady(lake: Lake, look: Callable[[], list[str]], where: str) -> list[str]:
    names = look()
    for _ in range(LOOKS):
        # An object store lists by name: a look that misses a part which was deleted finds the whole, which was there
        # before and comes after all parts.
        if lake.is_object_store or _are_hours(names) or names == (again := look()):
            whole = whole_files(lake, names)
            if whole == names:
                return names
            # Where the hour's one file was put aside, its parts may be there still.
            names = look()
            continue
        names = again
    raise LakeUnsteady(f"The files of {where} change all the time: is more than one pipeline running?")


def _are_hours(names: Sequence[str]) -> bool:
    """Whether each folder has the one file of its hour, which is put there before the first part goes."""
    hours = {name.removesuffix(f"/{COMPACTED}") for name in names if name.endswith(f"/{COMPACTED}")}
    return bool(names) and all(name.rsplit("/", 1)[0] in hours for name in names)


def steadily(lake: Lake, find: Callable[[], list[str]], scan: Callable[[list[str]], Found]) -> Found:
    """What `scan` makes of the files that `find` gives; both once more where a file went away in between, or was put
    aside as it cannot be read."""
    names: list[str] = []
    gone: Exception | None = None
    for look in range(LOOKS):
        try:
            names = find()
            found = scan(names)
            if not _has_late_parts(names) or set(names) <= set(find()):
                return found
        except (pa.ArrowException, OSError) as error:
            gone = error
            if is_gone(error):
                continue
            # An object that was replaced while it was read gives pieces of both: the second look reads the new one.
            was_replaced = lake.is_object_store and look == 0
            if not is_of_a_file(lake, error) or not (put_aside_unreadable(lake, names) or was_replaced):
                raise
    raise LakeUnsteady(f"Files go away all the time: is more than one pipeline running? {gone}")


def whole_files(lake: Lake, names: Sequence[str]) -> list[str]:
    """Without those whose end is missing, and files of somebody else, which are put aside: one of the first would fail
    every read of its hour, and of one of the second nobody would know."""
    if is_local(lake) or _are_looked_at(names):
        return [name for name in names if not _was_put_aside(lake, name)]
    with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
        put_aside_ones = list(pool.map(lambda name: _was_put_aside(lake, name), names))
    return [name for name, was_put_aside in zip(names, put_aside_ones, strict=True) if not was_put_aside]


def _are_looked_at(names: Sequence[str]) -> bool:
    return all((name, 0, 0) in _looked_at for name in names)


def _was_put_aside(lake: Lake, name: str) -> bool:
    try:
        found = Path(name).stat() if is_local(lake) else None
        # An object is whole, and what is written there again is ours again: its name is enough, and asks nobody.
        looked_at = (name, found.st_size, found.st_mtime_ns) if found else (name, 0, 0)
        if looked_at in _looked_at:
            return False
        reason = "its end is missing" if found and is_cut_off(name) else why_not_ours(lake, name)
    except OSError as error:
        if not is_gone(error):
            raise
        # It was swapped in this very moment: whoever opens it looks again.
        return False
    if reason is not None:
        put_aside(lake, name, reason)
        return True
    if len(_looked_at) >= MOST_LOOKED_AT:
        _looked_at.clear()
    _looked_at.add(looked_at)
    return False


def _visible_of(lake: Lake, entries: Sequence[pafs.FileInfo]) -> list[str]:
    """Of one folder."""
    names = sorted(
        entry.path
        for entry in entries
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
    except (pa.ArrowException, OSError) as error:
        if not is_gone(error) and not is_of_a_file(lake, error):
            raise
        # Whoever opens it finds it gone or unreadable, and looks again.
        return []
    return [] if merged is None else [name for name in others if name.rsplit("/", 1)[1] not in merged]


def _has_late_parts(names: Sequence[str]) -> bool:
    """One of them may be taken into the whole while both are read, and is there twice then."""
    wholes = {name.removesuffix(COMPACTED) for name in names if name.endswith(f"/{COMPACTED}")}
    return any(not name.endswith(f"/{COMPACTED}") and f"{name.rsplit('/', 1)[0]}/" in wholes for name in names)


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
            columns=list(columns) if columns else None,
            filter=within if filter is None else within & filter,
            fragment_readahead=files_ahead(lake),
        )

    return steadily(lake, lambda: files(lake, table, cluster, since, until), rows)


def files_ahead(lake: Lake) -> int:
    """So many files a scan reads at once: where each waits for several round trips, more than pyarrow's own 4."""
    return REQUESTS_AT_ONCE if lake.is_object_store else 4


def dataset(lake: Lake, table: str, names: Sequence[str]) -> ds.Dataset:
    return ds.dataset(list(names), schema=TABLES[table], format="parquet", filesystem=lake.filesystem)


def read_moment(
    lake: Lake, table: str, cluster: str, at: datetime, columns: Sequence[str], filter: pc.Expression
) -> pa.Table | None:
    """None where the reading is not kept (any more)."""
    wanted = filter & (pc.field(TIME_COLUMN[table]) == pa.scalar(at, TIME))

    def rows(names: list[str]) -> pa.Table | None:
        found = dataset(lake, table, names)
        return found.to_table(columns=list(columns), filter=wanted) if names else None

    return steadily(lake, lambda: moment_files(lake, table, cluster, at), rows)


def moment_files(lake: Lake, table: str, cluster: str, at: datetime) -> list[str]:
    """The one file that holds the reading, if any."""
    files = folder_files(lake, hour_folder(table, cluster, at))
    return [name for name in files if name.rsplit("/", 1)[1] in (file_name(at), COMPACTED)]
