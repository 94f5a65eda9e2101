"""The rows of one group out of many files: of each only the row groups that can hold it.

A dataset's scan weighs every row group of every file against its filter, which takes longer than reading what is left.
"""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from threading import Lock

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .paths import file_name
from .reader import TIME_COLUMN, files, steadily
from .schemas import TABLES, TIME
from .store import Lake

# On an object store a file is several round trips.
FILES_AT_ONCE = 8
# As paths.file_name makes them.
OF_ONE_TIME = re.compile(r"\d{8}T\d{12}\.parquet")


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
    """The group's rows of [since, until) whose columns are `equal` to these, narrowed to `columns`, in no order.

    Raises TooManyRows as soon as there are more than `most_rows`: what was read by then is all that was held.
    """
    counted = _Counted(most_rows)
    same = {"group": group, **(equal or {})}
    schema = pa.schema([TABLES[table].field(name) for name in columns])
    time = TIME_COLUMN[table]
    wanted = list(dict.fromkeys([*columns, *same, time]))

    def part(name: str) -> pa.Table:
        counted.add(0)
        # Columns that lie close together are one request there.
        ahead = lake.is_object_store
        with lake.filesystem.open_input_file(name) as source, pq.ParquetFile(source, pre_buffer=ahead) as file:
            # A column that is younger than the file is null in it.
            stored = set(file.schema_arrow.names)
            if "group" not in stored:
                raise pa.ArrowInvalid(f"{name} has no column group: it is no file of the table {table}.")
            chosen = row_groups_of(file.metadata, group)
            rows = file.read_row_groups(chosen, columns=[name for name in wanted if name in stored], use_threads=False)
            for field in schema:
                if field.name not in stored:
                    rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
        within = pc.and_(
            pc.greater_equal(rows[time], pa.scalar(since, TIME)), pc.less(rows[time], pa.scalar(until, TIME))
        )
        for column, value in same.items():
            within = pc.and_(within, pc.equal(rows[column], value))
        rows = rows.filter(within)
        counted.add(rows.num_rows)
        return pa.table([rows[field.name].cast(field.type) for field in schema], schema=schema)

    def rows(names: Sequence[str]) -> pa.Table:
        counted.begin()
        with ThreadPoolExecutor(FILES_AT_ONCE) as pool:
            return pa.concat_tables([schema.empty_table(), *pool.map(part, names)])

    return steadily(lake, lambda: _within(files(lake, table, cluster, since, until), table, since, until), rows)


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


def _within(names: Sequence[str], table: str, since: datetime, until: datetime) -> list[str]:
    """Without the files whose names say that all their rows are of another time; one of knots holds a minute's."""
    if table == "knots":
        return list(names)
    first, last = file_name(since), file_name(until)
    moments = [(name, name.rsplit("/", 1)[1]) for name in names]
    return [name for name, moment in moments if not OF_ONE_TIME.fullmatch(moment) or first <= moment < last]


def row_groups_of(metadata: pq.FileMetaData, group: str) -> list[int]:
    """Those whose statistics do not rule the group out."""
    column = metadata.schema.names.index("group")
    chosen = []
    for number in range(metadata.num_row_groups):
        statistics = metadata.row_group(number).column(column).statistics
        if statistics is None or not statistics.has_min_max or statistics.min <= group <= statistics.max:
            chosen.append(number)
    return chosen
