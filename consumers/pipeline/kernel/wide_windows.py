"""Wide windows from the next finer ones: ten minutes from minutes, an hour from ten minutes, a day from hours.

Lag is that of the last part, a rate is known only where every part has one.

Volumes are sums of all parts: null while one is missing.
"""

import numpy as np
import pyarrow as pa

from consumers.pipeline.kernel.arrays.columns import Columns, arrow, times, whole
from consumers.pipeline.kernel.arrays.keys import first_rows, key_numbers
from consumers.pipeline.kernel.arrays.names import QUEUE
from consumers.pipeline.kernel.arrays.segments import MICROSECONDS
from consumers.pipeline.kernel.arrays.sums import Groups
from consumers.pipeline.kernel.arrays.texts import Texts
from consumers.vocabulary.volumes import VolumeReason

LAST = ["lag_messages", "time_lag_seconds", "time_lag_kind", "unknown_reason"]


def wide_windows(windows: pa.Table, step_seconds: int) -> pa.Table:
    """The columns of the lake's windows, `step_seconds` wide."""
    columns = Columns(windows)
    wide_start = columns["start"] // (step_seconds * MICROSECONDS) * (step_seconds * MICROSECONDS)
    keyed = windows.append_column("wide_start", pa.array(wide_start.astype(np.int64)))
    numbers = key_numbers(keyed, [*QUEUE, "kind", "wide_start"])
    first = first_rows(numbers)
    groups = Groups(numbers, len(first))
    every = np.ones(len(numbers), bool)
    parts, seconds = groups.count_if(every), groups.sum(columns["step_seconds"])
    newest = columns.table.take(pa.array(groups.last(columns["start"], chosen=every)))
    found = columns.table.take(pa.array(first))
    is_short = seconds < step_seconds
    is_unknown = np.isnan(columns["consumed"]) | np.isnan(columns["produced"])
    reason = (
        Texts.of(windows["volume_unknown"])
        .otherwise(VolumeReason.NOT_RECORDED)
        .least(numbers, is_unknown, groups.count)
    )
    return pa.table(
        {
            "cluster": found["cluster"],
            "start": times(wide_start[first]),
            "step_seconds": pa.array(np.full(groups.count, step_seconds, np.int32)),
            **{name: found[name] for name in (*QUEUE[1:], "kind")},
            **{name: newest[name] for name in LAST[:3]},
            **{
                name: arrow(groups.whole_sum(columns[name], every) / parts) for name in ("consume_rate", "produce_rate")
            },
            "readings": pa.array(groups.sum(columns["readings"]).astype(np.int32)),
            "unknown_reason": newest["unknown_reason"],
            **{
                name: whole(np.where(is_short, np.nan, groups.whole_sum(columns[name], every)))
                for name in ("consumed", "produced")
            },
            "volume_unknown": Texts.chosen(
                [(is_short, VolumeReason.PART_MISSING), (~is_short, reason)], groups.count
            ).arrow(),
        }
    )
