"""Puts the rows of one window, or one minute of knots, into the lake: the same window again replaces them whole."""

from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .paths import file_name, hour_folder
from .reader import COMPACTED, TIME_COLUMN, folder_files
from .schemas import TABLES
from .store import Lake


def put_window(lake: Lake, table: str, cluster: str, start: datetime, rows: pa.Table) -> None:
    """Writes the window's file; where its hour is one file already, the window is replaced inside it."""
    folder = hour_folder(table, cluster, start)
    names = folder_files(lake, folder)
    if names and names[0].endswith(f"/{COMPACTED}"):
        hour = pq.read_table(names[0], filesystem=lake.filesystem, schema=TABLES[table])
        at = pa.scalar(start, pa.timestamp("us", tz="UTC"))
        # Knots are a set: what is there already stays, and doubles go when the day is settled.
        kept = hour if table == "knots" else hour.filter(pc.not_equal(hour[TIME_COLUMN[table]], at))
        schema = TABLES[table]
        lake.write(pa.concat_tables([kept, rows.select(schema.names).cast(schema)]), f"{folder}/{COMPACTED}", schema)
        return
    lake.write(rows, f"{folder}/{file_name(start)}", TABLES[table])
