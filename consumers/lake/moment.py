"""The rows of one reading of a table: out of its own file, or out of the compacted hour that holds it by then."""

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from .paths import file_name, hour_folder
from .reader import COMPACTED, TIME_COLUMN, folder_files
from .schemas import TABLES, TIME
from .store import Lake


def read_moment(
    lake: Lake, table: str, cluster: str, at: datetime, columns: Sequence[str], filter: pc.Expression
) -> pa.Table | None:
    """None where the reading is not kept (any more)."""
    wanted = filter & (pc.field(TIME_COLUMN[table]) == pa.scalar(at, TIME))
    try:
        return _rows(moment_files(lake, table, cluster, at), columns, wanted)
    except FileNotFoundError:
        # A compaction took the file away after the look into the folder: the hour's own file is there by then.
        return _rows(moment_files(lake, table, cluster, at), columns, wanted)


def moment_files(lake: Lake, table: str, cluster: str, at: datetime) -> ds.Dataset:
    """The one file that holds the reading, if any, not opened yet."""
    files = folder_files(lake, hour_folder(table, cluster, at))
    held = [name for name in files if name.rsplit("/", 1)[1] in (file_name(at), COMPACTED)]
    return ds.dataset(held, schema=TABLES[table], format="parquet", filesystem=lake.filesystem)


def _rows(found: ds.Dataset, columns: Sequence[str], wanted: pc.Expression) -> pa.Table | None:
    return found.to_table(columns=list(columns), filter=wanted) if found.files else None
