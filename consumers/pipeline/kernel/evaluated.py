"""All columns that rules look at, from a table of queues with their readings and what is known beside them."""

import numpy as np
import pyarrow as pa

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.arrays.columns import Columns

from .numbers import Seen, window_numbers
from .readings import Restarts
from .trend import with_trend

LISTS = ("readings", "lags", "hands", "minutes")


def evaluated(
    queues: pa.Table, until_us: int, durations: Durations, restarts: Restarts | None = None, seen: Seen | None = None
) -> pa.Table:
    """`queues`: a row a queue, with its names and kind, `hands` and `minutes` (lists), and what the rules ask of
    members, owners, kinds and the earlier state. Thresholds that a group does not set are those of the site. Without
    `seen` its `readings` and `lags` are lists, too."""
    columns = _with_thresholds(Columns(queues), durations)
    seen = seen or Seen.of(columns.table)
    columns = columns.with_columns(window_numbers(columns.table, seen, until_us, durations, restarts))
    found = with_trend(columns, until_us, durations).table
    return found.drop_columns([name for name in LISTS if name in found.column_names])


def _with_thresholds(columns: Columns, durations: Durations) -> Columns:
    return columns.with_columns(
        {
            name: np.where(np.isnan(columns[name]), getattr(durations, name), columns[name])
            for name in ("allowance_seconds", "behind_seconds")
        }
    )
