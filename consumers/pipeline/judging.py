"""From the arrays of a run to evaluated queues: Spark puts side by side what is known of each, the kernel decides."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .durations import Durations
from .evidence import with_known, with_members, with_minutes, with_owners, with_retention
from .frames import Frames
from .judge import judge
from .kernel.columns import Columns
from .kernel.evaluated import evaluated
from .kernel.trend import minutes_needed
from .kinds import KindRows
from .known import KnownRows
from .membership import GROUP
from .pieces import pieces
from .queue_arrays import QUEUE
from .slices import MINUTE, floor, microseconds


def judged_queues(
    arrays: DataFrame, frames: Frames, rows: KnownRows, kinds: KindRows, until: datetime, durations: Durations
) -> pa.Table:
    """`arrays` with lags and hands, kept in memory by the caller. Reads membership, ownership and windows of the
    lake."""
    earliest = until - timedelta(seconds=durations.evidence_seconds)
    queues = with_members(arrays, frames.table("membership", earliest, until), frames.known(kinds.groups))
    queues = with_owners(queues, frames.table("ownership", earliest, until), frames.known(rows.members))
    queues = with_retention(queues, frames.known(rows.retention))
    queues = with_known(queues, frames.known(rows.still), frames.known(rows.lost))
    queues = with_minutes(queues, _minutes(arrays, frames, until, durations))
    return pa.concat_tables(_judged(queues, arrays.count(), until, durations))


def _judged(queues: DataFrame, count: int, until: datetime, durations: Durations) -> Iterator[pa.Table]:
    # The queues of a group stay together: whether somebody skipped its backlog shows in all of them.
    for piece in pieces(queues, count, key=GROUP):
        yield judge(Columns(evaluated(piece, microseconds(until), durations)), durations)


def _minutes(arrays: DataFrame, frames: Frames, until: datetime, durations: Durations) -> DataFrame:
    """Windows of a minute, only of queues that are behind for longer than is allowed."""
    newest = F.try_element_at("lags", F.lit(-1))
    behind = arrays.where(newest["seconds"] > durations.allowance_seconds).select(*QUEUE)
    until_minute = floor(until, MINUTE)
    since = until_minute - minutes_needed(durations) * MINUTE
    if behind.isEmpty():
        return frames.files("windows_60", until, until)
    return frames.table("windows_60", since, until_minute).join(behind, on=QUEUE, how="left_semi")
