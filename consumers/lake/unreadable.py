"""Moves files that cannot be read, as after a power cut, out of the way, so that the other files stay readable. They
lie under `unreadable/` in the folder of the history store, by the path that they had. No reader looks there, nor does
Spark, which reads what the reader lists. /readyz reports them."""

import logging
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from .schemas import TABLES
from .store import Lake, folders_between, hour_folder, is_gone, is_of_the_store

logger = logging.getLogger(__name__)

FOLDER = "unreadable"
# A Parquet file begins and ends with it, and is longer than its footer's length and two of them.
MAGIC, LEAST_BYTES = b"PAR1", 12
# Younger columns may be missing in older files; these are in every file of a table that has them.
COLUMNS_OF_ALL = frozenset({"cluster", "group"})


def is_of_a_file(lake: Lake, error: BaseException) -> bool:
    """Whether what a file holds may be the reason, and not how it is reached, or what was asked of it."""
    if isinstance(error, MemoryError) or is_gone(error) or is_of_the_store(error):
        return False
    if isinstance(error, pa.ArrowException):
        return True
    # Arrow says so of pages that are cut off; an error of the disk has a number, one of a network may have none.
    is_known_store = is_local(lake) or lake.filesystem.type_name == "s3"
    return isinstance(error, OSError) and error.errno is None and is_known_store


def is_local(lake: Lake) -> bool:
    return isinstance(lake.filesystem, pafs.LocalFileSystem)


def is_cut_off(name: str) -> bool:
    """Whether the end of a local file is missing, by its last bytes alone. Raises FileNotFoundError."""
    with Path(name).open("rb") as file:
        size = file.seek(0, 2)
        if size < LEAST_BYTES:
            return True
        file.seek(-len(MAGIC), 2)
        return file.read() != MAGIC


def put_aside(lake: Lake, name: str, reason: str) -> None:
    """Nothing where another process was quicker."""
    target = lake.path(f"{FOLDER}/{name.removeprefix(f'{lake.root}/')}")
    lake.make_folder_of(target)
    try:
        lake.filesystem.move(name, target)
    except OSError as error:
        if not is_gone(error):
            raise
        return
    logger.error("%s cannot be read (%s): it is put aside as %s, and what it held is missing.", name, reason, target)


def put_aside_unreadable(lake: Lake, names: Sequence[str]) -> int:
    """Each of the files that cannot be read by itself either. How many there were."""
    found = 0
    for name in names:
        if (reason := _why_unreadable(lake, name)) is not None:
            put_aside(lake, name, reason)
            found += 1
    return found


def files_put_aside(lake: Lake) -> list[str]:
    """Their names within the lake, in order."""
    selector = pafs.FileSelector(lake.path(FOLDER), recursive=True, allow_not_found=True)
    entries = lake.filesystem.get_file_info(selector)
    begin = f"{lake.path(FOLDER)}/"
    return sorted(entry.path.removeprefix(begin) for entry in entries if entry.type == pafs.FileType.File)


def put_aside_of(lake: Lake, table: str, cluster: str, since: datetime, until: datetime) -> list[str]:
    """Names of the files whose rows of [since, until) are missing."""
    folders = [f"{FOLDER}/{hour_folder(table, cluster, hour)}" for hour in folders_between(table, since, until)]
    selectors = [pafs.FileSelector(lake.path(folder), allow_not_found=True) for folder in folders]
    return [entry.path for selector in selectors for entry in lake.filesystem.get_file_info(selector)]


def why_not_ours(lake: Lake, name: str) -> str | None:
    """By a file's footer alone. Arrow takes columns that are not there for nulls, and shows nothing of such a file."""
    try:
        stored = pq.read_schema(name, filesystem=lake.filesystem).names
    except (pa.ArrowException, OSError) as error:
        if not is_of_a_file(lake, error):
            raise
        return " ".join(str(error).split())
    missing = COLUMNS_OF_ALL & set(TABLES[_table_of(lake, name)].names) - set(stored)
    return f"it has no column {min(missing)}" if missing else None


def _table_of(lake: Lake, name: str) -> str:
    return name.removeprefix(f"{lake.root}/").split("/", 1)[0]


def _why_unreadable(lake: Lake, name: str) -> str | None:
    try:
        if (reason := why_not_ours(lake, name)) is not None:
            return reason
        schema = TABLES[_table_of(lake, name)]
        ds.dataset([name], schema=schema, format="parquet", filesystem=lake.filesystem).to_table()
    except (pa.ArrowException, OSError) as error:
        return " ".join(str(error).split()) if is_of_a_file(lake, error) else None
    return None
