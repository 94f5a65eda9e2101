"""Compacts old knots: a day that ended a day ago becomes one file with a knot every 10 minutes.

The day's file takes the place of its first hour, then the other hours go. Killed in between, a knot is there twice,
which means nothing: knots are a set.
"""

from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs

from consumers.vocabulary.times import MICROSECOND

from .reader import dataset, folder_files, steadily
from .schemas import KNOTS
from .store import COMPACTED, DAY, Lake, cluster_folder

# Fewer knots for older hours: what the produced history loses with age, and what it must keep.
#
# Kept of each step: its last knot. Kept always: the ends of a gap or flat run longer than the step (or the first
# message after a quiet hour would look an hour old), and both sides of an offset that went back.

KEY = ["topic", "broker", "queue_id"]


def thin(knots: pa.Table, step: timedelta) -> pa.Table:
    """`knots` of one cluster, without doubles, sorted by queue and time, thinned to one in `step`."""
    ordered = (
        knots.group_by([*knots.column_names], use_threads=False)
        .aggregate([])
        .sort_by([(name, "ascending") for name in [*KEY, "at", "broker_offset"]])
    )
    if ordered.num_rows < 3:
        return ordered.select(knots.column_names)
    at = pc.cast(ordered["at"], pa.int64()).to_numpy()
    offset = ordered["broker_offset"].to_numpy()
    queue = _queue_numbers(ordered)
    width = int(step / MICROSECOND)

    same_queue = queue[1:] == queue[:-1]
    last_of_step = np.append(~same_queue | (at[1:] // width != at[:-1] // width), True)
    far_apart = same_queue & (at[1:] - at[:-1] > width)
    went_back = same_queue & (offset[1:] < offset[:-1])
    pair = far_apart | went_back
    first_of_queue = np.insert(~same_queue, 0, True)
    keep = last_of_step | first_of_queue | np.append(pair, False) | np.insert(pair, 0, False)
    return ordered.filter(pa.array(keep)).select(knots.column_names)


def _queue_numbers(ordered: pa.Table) -> np.ndarray:
    """A number per row that changes wherever the queue does."""
    changed = np.zeros(ordered.num_rows, dtype=bool)
    for name in KEY:
        codes = pc.rank(ordered[name], sort_keys="ascending", tiebreaker="min").to_numpy()
        changed[1:] |= codes[1:] != codes[:-1]
    return np.cumsum(changed)


STEP = timedelta(minutes=10)


def settle(lake: Lake, now: datetime, after: timedelta = DAY) -> int:
    """Settles every day that ended longer than `after` ago. Returns the number of days that were not settled before."""
    settled = 0
    for cluster in lake.filesystem.get_file_info(pafs.FileSelector(lake.path("knots"), allow_not_found=True)):
        for entry in lake.filesystem.get_file_info(pafs.FileSelector(cluster.path)):
            day = datetime.strptime(entry.base_name.removeprefix("date="), "%Y-%m-%d").replace(tzinfo=UTC)
            if day + DAY + after <= now:
                settled += _settle_day(lake, entry.path.removeprefix(f"{lake.root}/"))
    return settled


def _settle_day(lake: Lake, day_folder: str) -> bool:
    hours = sorted(
        entry.path.removeprefix(f"{lake.root}/")
        for entry in lake.filesystem.get_file_info(pafs.FileSelector(lake.path(day_folder)))
        if entry.type == pafs.FileType.Directory
    )
    first = f"{day_folder}/hour=00"
    if hours == [first]:
        return False
    knots = steadily(
        lake,
        lambda: [name for hour in hours for name in folder_files(lake, hour)],
        lambda names: dataset(lake, "knots", names).to_table(),
    )
    lake.write(thin(knots, STEP), f"{first}/{COMPACTED}", KNOTS)
    for hour in hours:
        if hour != first:
            lake.filesystem.delete_dir(lake.path(hour))
    return True


def day_start(at: datetime) -> datetime:
    """Where to begin to read, so that the file of the day that holds `at` is in the range."""
    return at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def first_day(lake: Lake, cluster: str, since: datetime) -> str | None:
    """The name of the oldest folder of a day of knots, of the day of `since` or later."""
    selector = pafs.FileSelector(lake.path(cluster_folder("knots", cluster)), allow_not_found=True)
    names = (entry.base_name for entry in lake.filesystem.get_file_info(selector))
    return min((name for name in names if name >= f"date={day_start(since):%Y-%m-%d}"), default=None)
