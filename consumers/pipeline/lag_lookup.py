"""Where the produced history is looked up: two hours first, all of it for queues that reach further back."""

from datetime import datetime, timedelta

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from consumers.lake.knot_days import day_start

from .durations import Durations
from .frames import Frames
from .queue_arrays import TOPIC_QUEUE
from .time_lag import reaches_back, with_time_lags, without_time_lags

NEAR = timedelta(hours=2)
FAR = timedelta(days=30)


def looked_up(arrays: DataFrame, frames: Frames, until: datetime, durations: Durations) -> DataFrame:
    """`arrays` (kept in memory by the caller) with points, and `lags` beside them; what was looked up is kept too."""
    behind = arrays.where(F.size("points") > 0)
    if behind.isEmpty():
        return without_time_lags(arrays)
    near = _lags(behind, frames, until - NEAR, until, durations).persist()
    far_back = near.where(reaches_back()).drop("lags")
    if far_back.isEmpty():
        found = near
    else:
        far = _lags(far_back, frames, day_start(until - FAR), until, durations)
        found = near.where(~reaches_back()).unionByName(far.persist())
    level = without_time_lags(arrays.where(F.size("points") == 0))
    return level.unionByName(found)


def _lags(behind: DataFrame, frames: Frames, since: datetime, until: datetime, durations: Durations) -> DataFrame:
    asked = behind.select(*TOPIC_QUEUE).distinct()
    # Whole files, not the exact range: the file of a day stands in its first hour.
    knots = frames.files("knots", since, until).where(F.col("at") < F.lit(until))
    wanted = knots.join(asked, on=TOPIC_QUEUE, how="left_semi")
    return with_time_lags(behind, wanted, durations)
