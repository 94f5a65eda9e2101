"""Finds the files of a table for a time range, and reads their rows; and the order of rows in a file, by the places of
their values, which few of many rows have to be compared for.

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

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from .schemas import TABLES, TIME
from .store import (
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
    rows_in_group,
)
from .unreadable import is_cut_off, is_local, is_of_a_file, put_aside, put_aside_unreadable, why_not_ours

COMPACTED = "hour.parquet"
# An hour is swapped once, and a run swaps one hour after another: the second look finds it.
LOOKS = 10

# In an object store so many hours are listed one by one, and so many days; of more, all that the cluster has.
HOURS_EACH, DAYS_EACH = 2, 4
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


# Sixty files make the hour that is not over: little of each should be decoded for one group.
ROWS_IN_WINDOW_GROUP = 4_000


def put_window(lake: Lake, table: str, cluster: str, start: datetime, rows: pa.Table) -> None:
    """Writes the window's file; where its hour is one file already, the window is replaced inside it."""
    folder, schema = hour_folder(table, cluster, start), TABLES[table]
    fresh = rows.select(schema.names)
    hour = steadily(lake, lambda: folder_files(lake, folder), lambda names: _whole_hour(lake, names, schema))
    if hour is None:
        lake.write(_stored(table, fresh), f"{folder}/{file_name(start)}", schema, ROWS_IN_WINDOW_GROUP)
        return
    at = pa.scalar(start, pa.timestamp("us", tz="UTC"))
    # Knots are a set: what is there already stays.
    kept = hour if table == "knots" else hour.filter(pc.not_equal(hour[TIME_COLUMN[table]], at))
    whole = _stored(table, pa.concat_tables([kept, fresh.cast(schema)]))
    lake.write(whole, f"{folder}/{COMPACTED}", schema, rows_in_group(whole.num_rows))


def _whole_hour(lake: Lake, names: Sequence[str], schema: pa.Schema) -> pa.Table | None:
    """None where the hour is not one file."""
    if not names or not names[0].endswith(f"/{COMPACTED}"):
        return None
    return pq.read_table(names[0], filesystem=lake.filesystem, schema=schema)


# What is asked for stands together: by group, or by topic where there is none.
STORED_BY = ("group", "topic", "broker", "queue_id", "start", "at")


def _stored(table: str, rows: pa.Table) -> pa.Table:
    """As a file has them. Two groups of a topic saw the same knots, one of which is kept."""
    ordered = in_order(rows, [name for name in STORED_BY if name in rows.column_names])
    return without_doubles(ordered) if table == "knots" else ordered


# Above it the places of one more column would not fit into 64 bits.
MOST = 2**62


def in_order(rows: pa.Table, names: Sequence[str]) -> pa.Table:
    """The rows by these columns, nulls last. Rows that are in order already are returned as they are."""
    places = _places(rows, names)
    if len(places) == 1 and bool((places[0][1:] >= places[0][:-1]).all()):
        return rows
    order = np.argsort(places[0], kind="stable") if len(places) == 1 else np.lexsort(places[::-1])
    return rows.take(pa.array(order))


def without_doubles(rows: pa.Table) -> pa.Table:
    """Of equal rows that follow one another the first."""
    if rows.num_rows < 2:
        return rows
    differs = np.zeros(rows.num_rows - 1, bool)
    for place in _places(rows, rows.column_names):
        differs |= place[1:] != place[:-1]
    return rows if differs.all() else rows.filter(pa.array(np.append(True, differs)))


def _places(rows: pa.Table, names: Sequence[str]) -> list[np.ndarray]:
    """Numbers that stand in the order of the columns' values, the most significant first: one array where all columns
    fit into it."""
    found: list[np.ndarray] = []
    size = MOST
    for name in names:
        place, count = _place(rows[name])
        if size * count >= MOST:
            found.append(place)
            size = count
        else:
            found[-1] = found[-1] * count + place
            size *= count
    return found


def _place(column: pa.ChunkedArray) -> tuple[np.ndarray, int]:
    """Of each row the place of its value among the column's, and how many places there are."""
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    chunks = encoded.unify_dictionaries().chunks
    if not chunks:
        return np.empty(0, np.int64), 1
    whole = pa.concat_arrays(chunks)
    count = len(whole.dictionary)
    places = np.empty(count + 1, np.int64)
    places[np.asarray(pc.sort_indices(whole.dictionary))] = np.arange(count)
    places[-1] = count  # null
    return places[np.asarray(whole.indices.fill_null(-1))], count + 1
