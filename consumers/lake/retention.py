"""Deletes the days and hours of history that are older than their table is kept for."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

import pyarrow.fs as pafs

from .future import FOLDER as FUTURE
from .paths import DAY, folder_end
from .store import Lake
from .unreadable import FOLDER as UNREADABLE


def expire(lake: Lake, now: datetime, keep: Mapping[str, timedelta]) -> int:
    """Deletes hours that ended longer ago than `keep` says of their table. Returns the number of deleted folders."""
    deleted = 0
    # What was set aside goes when the hour that it is missing in does.
    places = [
        (table, place, now - kept)
        for table, kept in keep.items()
        for place in (table, f"{UNREADABLE}/{table}", f"{FUTURE}/{table}")
    ]
    for table, place, before in places:
        for cluster in _folders(lake, lake.path(place)):
            for day_folder in _folders(lake, cluster.path):
                day = _day(day_folder.base_name)
                if max(day + DAY, folder_end(table, day)) <= before:
                    lake.filesystem.delete_dir(day_folder.path)
                    deleted += 1
                elif day <= before:
                    deleted += _expire_hours(lake, table, day_folder, day, before)
    return deleted


def _expire_hours(lake: Lake, table: str, day_folder: pafs.FileInfo, day: datetime, before: datetime) -> int:
    deleted = 0
    for folder in _folders(lake, day_folder.path):
        hour = day + timedelta(hours=int(folder.base_name.removeprefix("hour=")))
        if folder_end(table, hour) <= before:
            lake.filesystem.delete_dir(folder.path)
            deleted += 1
    return deleted


def _folders(lake: Lake, path: str) -> Iterator[pafs.FileInfo]:
    for entry in lake.filesystem.get_file_info(pafs.FileSelector(path, allow_not_found=True)):
        if entry.type == pafs.FileType.Directory and "=" in entry.base_name:
            yield entry


def _day(name: str) -> datetime:
    return datetime.strptime(name.removeprefix("date="), "%Y-%m-%d").replace(tzinfo=UTC)
