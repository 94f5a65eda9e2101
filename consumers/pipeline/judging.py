"""From the arrays of a run to judged queues: puts numbers, members, owners, earlier states and trend side by side."""

from datetime import datetime, timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .durations import Durations
from .evidence import with_expiry, with_members, with_owners, with_previous, with_trend
from .frames import Frames
from .judge import judge
from .kinds import KindRows
from .known import KnownRows
from .numbers import queue_numbers
from .queue_arrays import QUEUE
from .slices import MINUTE, floor, microseconds
from .time_lag import EXACT, INTERPOLATED
from .trend import trends


def judged_queues(
    arrays: DataFrame, frames: Frames, rows: KnownRows, kinds: KindRows, until: datetime, durations: Durations
) -> DataFrame:
    """`arrays` with lags, kept in memory by the caller; reads membership, ownership and windows of the lake."""
    earliest = until - timedelta(seconds=durations.evidence_seconds)
    numbers = queue_numbers(arrays, microseconds(until), durations)
    numbers = with_members(numbers, frames.table("membership", earliest, until), frames.known(kinds.groups))
    numbers = with_owners(numbers, frames.table("ownership", earliest, until), frames.known(rows.members))
    numbers = with_expiry(numbers, frames.known(rows.retention))
    numbers = with_previous(numbers, frames.known(rows.still))
    return judge(with_trend(numbers, _trend(arrays, frames, until, durations)), durations)


def _trend(arrays: DataFrame, frames: Frames, until: datetime, durations: Durations) -> DataFrame:
    """Only of queues that are far enough behind for a rise to count."""
    newest = F.try_element_at("lags", F.lit(-1))
    is_known = newest["kind"].isin(EXACT, INTERPOLATED)
    far_behind = arrays.where(is_known & (newest["seconds"] > durations.warn_time_lag_seconds)).select(*QUEUE)
    until_minute = floor(until, MINUTE)
    since = until_minute - timedelta(seconds=durations.trend_seconds)
    if far_behind.isEmpty():
        windows = frames.files("windows_60", until, until)
    else:
        windows = frames.table("windows_60", since, until_minute).join(far_behind, on=QUEUE, how="left_semi")
    return trends(windows, microseconds(since), microseconds(until_minute))
