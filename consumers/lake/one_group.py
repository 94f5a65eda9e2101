"""Reads the rows of one group from many files: only the row groups that can contain it.

A dataset's scan weighs every row group of every file against its filter, which takes longer than reading what is left.
"""

import functools
import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from threading import Lock

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .reader import TIME_COLUMN, files, steadily
from .schemas import TABLES, TEXT, TIME
from .store import Lake

# Of the least and the greatest value of a row group: whether a wanted one may lie between.
MayHold = Callable[[str, str], bool]


def row_groups(metadata: pq.FileMetaData, column: str, may_hold: MayHold) -> list[int]:
    """Those whose statistics of a column of texts do not rule it out."""
    names = metadata.schema.names
    if column not in names:
        raise pa.ArrowInvalid(f"The file has no column {column}: it is of another table.")
    place = names.index(column)
    chosen = []
    for number in range(metadata.num_row_groups):
        statistics = metadata.row_group(number).column(place).statistics
        if statistics is None or not statistics.has_min_max or may_hold(statistics.min, statistics.max):
            chosen.append(number)
    return chosen


# On an object store a file is several round trips.
FILES_AT_ONCE = 8
# On a disk nothing is waited for, and threads beyond the cores keep each other from work.
FILES_AT_ONCE_HERE = min(FILES_AT_ONCE, os.cpu_count() or 1)


# Charts of all groups read the files of the same hours.
FOOTERS_KEPT = 64


class Footers:
    """What files on a disk say of their row groups: a chart of a day spends a fifth of its time on reading that."""

    def __init__(self, kept: int = FOOTERS_KEPT) -> None:
        self._most, self._known, self._lock = kept, OrderedDict[tuple[int, ...], pq.FileMetaData](), Lock()

    @contextmanager
    def opened(self, lake: Lake, name: str) -> Iterator[tuple[pa.NativeFile, pq.FileMetaData | None]]:
        """The file, and its footer where it can be kept. A file is never changed, but one of the same name may take its
        place: only where the same one is there before and after it was opened is the open one known.
        """
        before = self._identity(lake, name)
        with lake.filesystem.open_input_file(name) as source:
            identity = before if before == self._identity(lake, name) else None
            yield source, None if identity is None else self._footer(identity, source)

    def _footer(self, identity: tuple[int, ...], source: pa.NativeFile) -> pq.FileMetaData:
        with self._lock:
            if identity in self._known:
                self._known.move_to_end(identity)
                return self._known[identity]
        footer = pq.read_metadata(source)
        with self._lock:
            self._known[identity] = footer
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        return footer

    @staticmethod
    def _identity(lake: Lake, name: str) -> tuple[int, ...] | None:
        if lake.filesystem.type_name != "local":
            return None
        found = os.stat(name)
        return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size


footers = Footers()


class TooManyRows(Exception):
    """There are more than whoever reads them can hold."""


def read_group(
    lake: Lake,
    table: str,
    cluster: str,
    group: str,
    since: datetime,
    until: datetime,
    columns: Sequence[str],
    *,
    equal: Mapping[str, object] | None = None,
    most_rows: int | None = None,
) -> pa.Table:
    """Returns the group's rows of [since, until) whose columns are `equal` to these, narrowed to `columns`, in no
    order. Raises TooManyRows as soon as there are more than `most_rows`, so no more rows are ever in memory."""
    counted = _Counted(most_rows)
    same = {"group": group, **(equal or {})}
    schema = pa.schema([TABLES[table].field(name) for name in columns])
    time = TIME_COLUMN[table]
    wanted = list(dict.fromkeys([*columns, *same, time]))
    # Of a row group few rows are the group's: only their texts are written out.
    texts = [name for name in wanted if TABLES[table].field(name).type == TEXT]

    def part(name: str) -> pa.Table:
        counted.add(0)
        # Columns that lie close together are one request there.
        ahead = lake.is_object_store
        with (
            footers.opened(lake, name) as (source, footer),
            pq.ParquetFile(source, metadata=footer, pre_buffer=ahead, read_dictionary=texts) as file,
        ):
            # A column that is younger than the file is null in it.
            stored = set(file.schema_arrow.names)
            chosen = row_groups(file.metadata, "group", lambda least, greatest: least <= group <= greatest)
            rows = file.read_row_groups(chosen, columns=[name for name in wanted if name in stored], use_threads=False)
            for field in schema:
                if field.name not in stored:
                    rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
        # The group first: its times are few.
        wanted_rows = [pc.equal(rows[column], value) for column, value in same.items()]
        rows = rows.filter(functools.reduce(pc.and_, wanted_rows))
        is_within = pc.and_(
            pc.greater_equal(rows[time], pa.scalar(since, TIME)), pc.less(rows[time], pa.scalar(until, TIME))
        )
        rows = rows.filter(is_within)
        counted.add(rows.num_rows)
        return pa.table([_of_type(rows[field.name], field.type) for field in schema], schema=schema)

    def rows(names: Sequence[str]) -> pa.Table:
        counted.begin()
        with ThreadPoolExecutor(FILES_AT_ONCE if lake.is_object_store else FILES_AT_ONCE_HERE) as pool:
            return pa.concat_tables([schema.empty_table(), *pool.map(part, names)])

    return steadily(lake, lambda: files(lake, table, cluster, since, until), rows)


def _of_type(column: pa.ChunkedArray, type: pa.DataType) -> pa.ChunkedArray:
    # A cast to the same type takes as long as one to another.
    return column if column.type == type else column.cast(type)


class _Counted:
    """Rows of all files, which several threads read."""

    def __init__(self, most: int | None) -> None:
        self._most, self._rows, self._lock = most, 0, Lock()

    def begin(self) -> None:
        self._rows = 0

    def add(self, rows: int) -> None:
        with self._lock:
            self._rows += rows
            if self._most is not None and self._rows > self._most:
                raise TooManyRows(f"More than {self._most:,} rows.")
