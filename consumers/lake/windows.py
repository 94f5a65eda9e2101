"""Puts the rows of one window, or one minute of knots, into the lake: the same window again replaces them whole."""

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .paths import file_name, hour_folder
from .reader import COMPACTED, TIME_COLUMN, folder_files, steadily
from .schemas import TABLES
from .store import Lake
from .whole_hour import rows_in_group

# Sixty files make the hour that is not over: little of each should be decoded for one group.
ROWS_IN_WINDOW_GROUP = 4_000


def put_window(lake: Lake, table: str, cluster: str, start: datetime, rows: pa.Table) -> None:
    """Writes the window's file; where its hour is one file already, the window is replaced inside it."""
    folder, schema = hour_folder(table, cluster, start), TABLES[table]
    fresh = rows.select(schema.names).cast(schema)
    hour = steadily(lake, lambda: folder_files(lake, folder), lambda names: _whole_hour(lake, names, schema))
    if hour is None:
        lake.write(_in_order(fresh), f"{folder}/{file_name(start)}", schema, ROWS_IN_WINDOW_GROUP)
        return
    at = pa.scalar(start, pa.timestamp("us", tz="UTC"))
    # Knots are a set: what is there already stays, and doubles go when the day is settled.
    kept = hour if table == "knots" else hour.filter(pc.not_equal(hour[TIME_COLUMN[table]], at))
    whole = _in_order(pa.concat_tables([kept, fresh]))
    lake.write(whole, f"{folder}/{COMPACTED}", schema, rows_in_group(whole.num_rows))


def _whole_hour(lake: Lake, names: Sequence[str], schema: pa.Schema) -> pa.Table | None:
    """None where the hour is not one file."""
    if not names or not names[0].endswith(f"/{COMPACTED}"):
        return None
    return pq.read_table(names[0], filesystem=lake.filesystem, schema=schema)


def _in_order(rows: pa.Table) -> pa.Table:
    """By group, or by topic where there is none: what is asked for stands together."""
    names = [name for name in ("group", "topic", "broker", "queue_id", "start", "at") if name in rows.column_names]
    return rows.sort_by([(name, "ascending") for name in names])
