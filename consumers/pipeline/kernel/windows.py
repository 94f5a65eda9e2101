"""Windows of one minute per queue: what was read in each, from the readings of the queue and their time lags."""

import numpy as np
import pyarrow as pa

from .columns import arrow, times, whole
from .gathered import Gathered
from .minutes import MinuteWindows
from .names import QUEUE
from .segments import at_rows, seconds
from .texts import Texts
from .time_lag import EXACT, UNKNOWN, TimeLags, count_up_to
from .volumes import volumes


def queue_windows(gathered: Gathered, lags: TimeLags, windows: MinuteWindows) -> pa.Table:
    """The columns of the lake's windows. Offsets and lag are those of the minute's last reading; rates and volumes
    count from the reading before the minute."""
    readings, last = gathered.readings, windows.last
    is_known = readings.is_good[last]
    lag = np.where(is_known, at_rows(readings.broker_offset, last) - at_rows(readings.consumer_offset, last), np.nan)
    is_level = lag == 0
    time_lag, kind = _time_lags(gathered, lags, last)
    consumed, produced, reason = volumes(gathered, windows)
    kinds = Texts.chosen([(is_level, EXACT), (is_known, kind)], len(last)).otherwise(UNKNOWN)
    found = gathered.queues.take(pa.array(windows.queue))
    columns = {
        "cluster": found["cluster"],
        "start": times(windows.start_us),
        "step_seconds": pa.array(np.full(len(last), 60, np.int32)),
        **{name: found[name] for name in (*QUEUE[1:], "kind")},
        "lag_messages": whole(lag),
        "time_lag_seconds": arrow(np.where(is_level, 0.0, np.where(is_known, time_lag, np.nan))),
        "time_lag_kind": kinds.arrow(),
        "consume_rate": arrow(np.where(windows.is_by_hand, np.nan, _rate(gathered, windows, "consumer_offset"))),
        "produce_rate": arrow(_rate(gathered, windows, "broker_offset")),
        "readings": pa.array(np.diff(windows.inside.starts).astype(np.int32)),
        "unknown_reason": readings.reason.at(last).arrow(),
        "consumed": whole(consumed),
        "produced": whole(produced),
        "volume_unknown": reason.arrow(),
    }
    return pa.table(columns)


def _time_lags(gathered: Gathered, lags: TimeLags, last: np.ndarray) -> tuple[np.ndarray, Texts]:
    """Of the windows' last readings, where they have one."""
    queue, at = gathered.readings.segments.queue[last], gathered.readings.at_us[last]
    starts = lags.segments.starts
    newest = starts[queue] + count_up_to(lags.at_us, starts[queue], starts[queue + 1], at) - 1
    place = np.where((newest >= starts[queue]) & (at_rows(lags.at_us, newest) == at), newest, -1)
    return at_rows(lags.seconds, place), lags.kind.at(place)


def _rate(gathered: Gathered, windows: MinuteWindows, name: str) -> np.ndarray:
    """Messages a second; NaN where the offset fell or was not read meanwhile."""
    readings = gathered.readings
    values, at = getattr(readings, name), readings.at_us
    first = np.where(windows.before >= 0, windows.before, windows.first)
    span = seconds(at[windows.last] - at[first])
    span[span == 0] = np.nan
    rows, window = windows.rows, windows.inside.queue
    earlier = np.where(windows.inside.is_first, first[window], rows - 1)
    is_broken = ~(values[rows] >= values[earlier])
    broken = np.bincount(window[is_broken], minlength=len(first)) > 0
    return np.where(broken, np.nan, (values[windows.last] - values[first]) / span)
