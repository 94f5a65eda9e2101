"""Where a table's files lie: `table/cluster=…/date=…/hour=…/name.parquet`: no file is opened to find an hour.

A folder holds an hour of its table. Windows of an hour and of a day are few: a folder of theirs holds a day or a month,
and has the name of its first hour.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
# As file_name makes them.
OF_ONE_TIME = re.compile(r"\d{8}T\d{12}\.parquet")
FOLDERS_OF_A_DAY = {"windows_3600"}
FOLDERS_OF_A_MONTH = {"windows_86400"}


def folder_start(table: str, at: datetime) -> datetime:
    """When the time begins that the table's folder with `at` holds."""
    hour = at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    if table in FOLDERS_OF_A_DAY:
        return hour.replace(hour=0)
    return hour.replace(day=1, hour=0) if table in FOLDERS_OF_A_MONTH else hour


def folder_end(table: str, start: datetime) -> datetime:
    if table in FOLDERS_OF_A_MONTH:
        # No month has more than 31 days.
        return (start + 32 * DAY).replace(day=1)
    return start + (DAY if table in FOLDERS_OF_A_DAY else HOUR)


def hour_folder(table: str, cluster: str, at: datetime) -> str:
    """The folder, relative to the lake, of the hour (or the day, or the month) that holds `at`."""
    start = folder_start(table, at)
    return f"{cluster_folder(table, cluster)}/date={start:%Y-%m-%d}/hour={start:%H}"


def cluster_folder(table: str, cluster: str) -> str:
    return f"{table}/cluster={quote(cluster, safe='')}"


def file_name(at: datetime) -> str:
    """A reading's own file; the same reading written again lands in the same place."""
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%S%f}.parquet"


def is_within(name: str, since: datetime, until: datetime) -> bool:
    """False where a file's name says that all its rows are of a time outside [since, until)."""
    base = name.rsplit("/", 1)[1]
    return not OF_ONE_TIME.fullmatch(base) or file_name(since) <= base < file_name(until)


def folders_between(table: str, since: datetime, until: datetime) -> Iterator[datetime]:
    """The start of every folder of the table that has a moment in [since, until)."""
    start = folder_start(table, since)
    while start < until:
        yield start
        start = folder_end(table, start)
