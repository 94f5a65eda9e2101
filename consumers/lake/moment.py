"""The rows of one reading of a table: out of its own file, or out of the compacted hour that holds it by then."""

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from .paths import file_name, hour_folder
from .reader import COMPACTED, TIME_COLUMN, dataset, folder_files, steadily
from .schemas import TIME
from .store import Lake


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
