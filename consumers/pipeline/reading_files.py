"""Files of readings, as blocks: of files in a row with the same queues in the same order the names are read once.

Names are most of a reading: of two dozen readings a run needs them once.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from consumers.lake.one_group import FILES_AT_ONCE, FILES_AT_ONCE_HERE, MayHold, row_groups
from consumers.lake.schemas import READINGS, TEXT, noted_names
from consumers.lake.store import OF_ONE_TIME, Lake

from .kernel.readings import KEY, NUMBERED, Block


def with_dictionaries(schema: pa.Schema) -> pa.Schema:
    """Texts of which few differ are read as numbers: of a million rows that is most of the work."""
    text = pa.dictionary(pa.int32(), TEXT)
    return pa.schema([(field.name, text if field.type == TEXT else field.type) for field in schema])


def in_schema(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The columns of the schema, in its types; those that are lacking are null."""
    return pa.table([_as(rows, field) for field in schema], schema=schema)


def _as(rows: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    if field.name not in rows.column_names:
        return pa.chunked_array([pa.nulls(rows.num_rows, field.type)])
    # A cast to the same type copies all the same.
    column = rows[field.name]
    return column if column.type == field.type else column.cast(field.type)


WITH_DICTIONARIES = with_dictionaries(READINGS)
TEXTS = [name for name in (*KEY, *NUMBERED) if READINGS.field(name).type == TEXT]


@dataclass(frozen=True)
class ReadingFile:
    """`chosen`: the row groups that may hold the wanted groups. `alike`: equal for files whose chosen row groups have
    the same names; None where the file does not tell, lacks a column, or has rows of several times."""

    path: str
    file: pq.ParquetFile
    chosen: tuple[int, ...]
    alike: tuple[object, ...] | None

    def read(self, columns: Sequence[str]) -> pa.Table:
        rows = self.file.read_row_groups(list(self.chosen), columns=list(columns), use_threads=False)
        return in_schema(rows, pa.schema([WITH_DICTIONARIES.field(name) for name in columns]))


@contextmanager
def opened(lake: Lake, paths: Sequence[str], may_hold: MayHold) -> Iterator[list[ReadingFile]]:
    """The files in their order, open until the block ends. `may_hold`: of groups."""

    with ExitStack() as stack, threads(lake) as pool:

        def one(path: str) -> ReadingFile:
            source = stack.enter_context(lake.filesystem.open_input_file(path))
            file = pq.ParquetFile(source, pre_buffer=lake.is_object_store, read_dictionary=TEXTS)
            metadata = file.metadata
            chosen = tuple(row_groups(metadata, "group", may_hold))
            is_full = {*KEY, *NUMBERED} <= set(file.schema_arrow.names)
            is_one = OF_ONE_TIME.fullmatch(path.rsplit("/", 1)[1])
            names = noted_names(metadata) if is_full and is_one else None
            lengths = tuple(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))
            return ReadingFile(path, file, chosen, None if names is None else (names, lengths, chosen))

        yield list(pool.map(one, paths))


def blocks(
    lake: Lake,
    files: Sequence[ReadingFile],
    is_wanted: Callable[[pa.ChunkedArray], np.ndarray],
    scanned: Callable[[list[str]], Block],
) -> list[Block]:
    """`is_wanted`: which of the names of groups are. `scanned`: the rows of files that do not tell of their names."""
    found = []
    with threads(lake) as pool:
        for same_names, members in itertools.groupby(files, lambda file: file.alike):
            run = list(members)
            if same_names is None:
                found.append(scanned([file.path for file in run]))
                continue
            named = run[0].read(KEY)
            mine = is_wanted(named["group"])
            chosen = None if mine.all() else pa.array(mine)
            numbers = pool.map(lambda file, chosen=chosen: _numbers(file, chosen), run)
            named = named if chosen is None else named.filter(chosen)
            found.append(Block(named, pa.concat_tables(numbers), len(run)))
    return found


def _numbers(file: ReadingFile, chosen: pa.Array | None) -> pa.Table:
    rows = file.read(NUMBERED)
    return rows if chosen is None else rows.filter(chosen)


def threads(lake: Lake) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(FILES_AT_ONCE if lake.is_object_store else FILES_AT_ONCE_HERE)
