"""Old knots: each day that ended a day ago becomes one file, with a knot every ten minutes.

The day's file takes the place of its first hour, then the other hours go. Killed in between, a knot is there twice,
which means nothing: knots are a set.
"""

from datetime import UTC, datetime, timedelta

import pyarrow.fs as pafs

from .paths import DAY, cluster_folder
from .reader import COMPACTED, dataset, folder_files, steadily
from .schemas import KNOTS
from .store import Lake
from .thinning import thin

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
