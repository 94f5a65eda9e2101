"""Values of groups' parts of one topic: sums over its queues, from their windows in the lake."""

from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from consumers.models import GroupWindow, Measure
from consumers.pipeline.frames import Frames
from consumers.pipeline.kernel.group_windows import NOT_READ, group_windows
from consumers.pipeline.kernel.names import GROUP
from consumers.pipeline.known import UNREAD

from .grid import Grid
from .member_values import of_groups

VALUES = "place int, start timestamp, value double"
FIELDS = {Measure.LAG: "lag_messages", Measure.TIME_LAG: "time_lag_seconds"}


def topic_values(frames: Frames, measure: Measure, topic: str, places: Mapping[int, int], grid: Grid) -> DataFrame:
    """place, at_us, value (null: not known) of the moments with a window. `places` by group id.

    The lake's windows end at ten minutes. A broker that was not read makes what the group has there unknown: which
    queues of the topic are on it is not kept.
    """
    table = f"windows_{min(grid.step_seconds, 600)}"
    windows = frames.table(table, grid.since, grid.until, pc.field("topic") == topic)
    named = frames.known(of_groups(places))
    mine = windows.join(F.broadcast(named), on=GROUP)
    summed = mine.groupBy("place").applyInArrow(_summed(_unread(places, grid), FIELDS[measure]), VALUES)
    return summed.select("place", (F.unix_micros("start") + grid.step_us).alias("at_us"), "value")


def _summed(unread: pa.Table, field: str) -> Callable[[pa.Table], pa.Table]:
    """Of one group's windows the value of each moment."""

    def sums(windows: pa.Table) -> pa.Table:
        found = group_windows(windows, unread)
        place = pa.repeat(windows["place"][0], found.num_rows)
        return pa.table({"place": place, "start": found["start"], "value": pc.cast(found[field], pa.float64())})

    return sums


def _unread(places: Mapping[int, int], grid: Grid) -> pa.Table:
    """The groups' windows in which a broker that holds queues of theirs was not read."""
    rows = GroupWindow.objects.filter(step_seconds=grid.step_seconds, start__gte=grid.since, start__lt=grid.until)
    found = (
        rows.filter(unknown_reason=NOT_READ)
        .order_by()
        .values_list("group_id", "group__cluster__name", "group__name", "start")
    )
    return pa.Table.from_pylist(
        [dict(zip(UNREAD.names, row[1:], strict=True)) for row in found.iterator() if row[0] in places], UNREAD
    )
