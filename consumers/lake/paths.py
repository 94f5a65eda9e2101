"""Where a table's files lie: `table/cluster=…/date=…/hour=…/name.parquet`: no file is opened to find an hour."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

HOUR = timedelta(hours=1)
# As file_name makes them.
OF_ONE_TIME = re.compile(r"\d{8}T\d{12}\.parquet")


def hour_folder(table: str, cluster: str, at: datetime) -> str:
    """The folder, relative to the lake, of the hour that holds `at`."""
    utc = at.astimezone(UTC)
    return f"{cluster_folder(table, cluster)}/date={utc:%Y-%m-%d}/hour={utc:%H}"


def cluster_folder(table: str, cluster: str) -> str:
    return f"{table}/cluster={quote(cluster, safe='')}"


def file_name(at: datetime) -> str:
    """A reading's own file; the same reading written again lands in the same place."""
    return f"{at.astimezone(UTC):%Y%m%dT%H%M%S%f}.parquet"


def is_within(name: str, since: datetime, until: datetime) -> bool:
    """False where a file's name says that all its rows are of a time outside [since, until)."""
    base = name.rsplit("/", 1)[1]
    return not OF_ONE_TIME.fullmatch(base) or file_name(since) <= base < file_name(until)


def hours_between(since: datetime, until: datetime) -> Iterator[datetime]:
    """The start of every hour that has a moment in [since, until)."""
    hour = since.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    while hour < until:
        yield hour
        hour += HOUR
