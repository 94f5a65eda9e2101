"""Which files of a table hold a stretch of time, and their rows.

A compacted hour is one file, `hour.parquet`; from the moment it exists the hour's other files are invisible, and so are
names that begin with a dot. The folders of the hours are looked up by name: no folder outside the range is opened.
An hour may be swapped while it is read: its files are looked up again then, so that nothing is missing or there twice.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as pafs

from .paths import hour_folder, hours_between
from .schemas import TABLES
from .store import Lake

COMPACTED = "hour.parquet"
# An hour is swapped once, and a run swaps one hour after another: the second look finds it.
LOOKS = 10

Found = TypeVar("Found")


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
    "knots": "at",
}


def files(lake: Lake, table: str, cluster: str, since: datetime, until: datetime) -> list[str]:
    """Full names, as pyarrow knows them, of the files of every hour that has a moment in [since, until)."""
    found: list[str] = []
    for hour in hours_between(since, until):
        found += folder_files(lake, hour_folder(table, cluster, hour))
    return found


def folder_files(lake: Lake, folder: str) -> list[str]:
    """The visible files of one hour's folder, in the order of their names.

    A folder that is looked through while its hour is swapped may show neither the whole nor all parts. Two looks that
    agree show what was there: the whole is put there before the first part goes.
    """
    names = _visible(lake, folder)
    for _ in range(LOOKS):
        if names and names[0].endswith(f"/{COMPACTED}"):
            return names
        before, names = names, _visible(lake, folder)
        if names == before:
            return names
    raise LakeUnsteady(f"The files of {folder} change all the time: is more than one pipeline running?")


def steadily(find: Callable[[], list[str]], scan: Callable[[list[str]], Found]) -> Found:
    """What `scan` makes of the files that `find` gives; both once more where a file went away in between."""
    for _ in range(LOOKS):
        try:
            return scan(find())
        except FileNotFoundError as error:
            gone = error
    raise LakeUnsteady(f"Files go away all the time: is more than one pipeline running? {gone}")


def _visible(lake: Lake, folder: str) -> list[str]:
    selector = pafs.FileSelector(lake.path(folder), allow_not_found=True)
    names = sorted(
        entry.path
        for entry in lake.filesystem.get_file_info(selector)
        if entry.type == pafs.FileType.File and entry.base_name.endswith(".parquet") and entry.base_name[0] != "."
    )
    compacted = [name for name in names if name.rsplit("/", 1)[1] == COMPACTED]
    return compacted or names


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

    return steadily(lambda: files(lake, table, cluster, since, until), rows)


def dataset(lake: Lake, table: str, names: Sequence[str]) -> ds.Dataset:
    return ds.dataset(list(names), schema=TABLES[table], format="parquet", filesystem=lake.filesystem)
