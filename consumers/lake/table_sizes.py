"""How much room each table takes, and its days: from one look through the names and sizes of all files."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from urllib.parse import unquote

import pyarrow.fs as pafs

from .one_group import OF_ONE_TIME
from .paths import FOLDERS_OF_A_MONTH
from .schemas import TABLES
from .store import Lake


@dataclass
class TableSize:
    """`days`: of UTC. Of a month that is one file its days are not known: it counts as of its first one."""

    bytes: int = 0
    days: dict[date, int] = field(default_factory=dict)

    def add(self, day: date, size: int) -> None:
        self.bytes += size
        self.days[day] = self.days.get(day, 0) + size

    def whole_days(self, now: datetime) -> dict[date, int]:
        """Those between the first, in which the history begins or ends, and today; the oldest first."""
        first, today = min(self.days), now.astimezone(UTC).date()
        return {day: self.days[day] for day in sorted(self.days) if first < day < today}


def table_sizes(lake: Lake) -> dict[tuple[str, str], TableSize]:
    """By cluster and table; without those that have no file."""
    sizes: dict[tuple[str, str], TableSize] = {}
    for table in TABLES:
        selector = pafs.FileSelector(lake.path(table), recursive=True, allow_not_found=True)
        for entry in lake.filesystem.get_file_info(selector):
            if entry.type != pafs.FileType.File:
                continue
            cluster, day, _hour, name = entry.path.removeprefix(f"{lake.path(table)}/").split("/")
            at = name[:8] if table in FOLDERS_OF_A_MONTH and OF_ONE_TIME.fullmatch(name) else day.removeprefix("date=")
            size = sizes.setdefault((unquote(cluster.removeprefix("cluster=")), table), TableSize())
            size.add(date.fromisoformat(at), entry.size)
    return sizes
