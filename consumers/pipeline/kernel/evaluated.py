"""All columns that rules look at, from a table of queues with their readings and what is known beside them."""

import numpy as np
import pyarrow as pa

from consumers.pipeline.durations import Durations

from .columns import Columns
from .numbers import window_numbers
from .readings import Restarts
from .trend import with_trend

LISTS = ("readings", "lags", "hands", "minutes")


def evaluated(queues: pa.Table, until_us: int, durations: Durations, restarts: Restarts | None = None) -> pa.Table:
    """`queues`: a row a queue, with its names and kind, LISTS, and what the rules ask of members, owners, kinds and the
    earlier state. Thresholds that a group does not set are those of the site."""
    columns = _with_thresholds(Columns(queues), durations)
    columns = columns.with_columns(window_numbers(columns.table, until_us, durations, restarts))
    return with_trend(columns, until_us, durations).table.drop_columns(list(LISTS))


def _with_thresholds(columns: Columns, durations: Durations) -> Columns:
    return columns.with_columns(
        {
            name: np.where(np.isnan(columns[name]), getattr(durations, name), columns[name])
            for name in ("allowance_seconds", "behind_seconds")
        }
    )
