"""How much room each table takes, and its days: from one look through the names and sizes of all files."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from urllib.parse import unquote

import pyarrow.fs as pafs

from .paths import DAY, FOLDERS_OF_A_MONTH, OF_ONE_TIME, folder_end
from .schemas import TABLES
from .store import Lake


@dataclass
class TableSize:
    """`days`: of UTC. A file of a whole month counts evenly for each of its days."""

    bytes: int = 0
    days: dict[date, int] = field(default_factory=dict)

    def add(self, days: Sequence[date], size: int) -> None:
        self.bytes += size
        for day in days:
            self.days[day] = self.days.get(day, 0) + size // len(days)

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
            parts = entry.path.removeprefix(f"{lake.path(table)}/").split("/")
            if entry.type != pafs.FileType.File or len(parts) != 4:
                continue
            cluster, folder, _hour, name = parts
            size = sizes.setdefault((unquote(cluster.removeprefix("cluster=")), table), TableSize())
            size.add(_days(table, datetime.strptime(f"{folder} +0000", "date=%Y-%m-%d %z"), name), entry.size)
    return sizes


def _days(table: str, day: datetime, name: str) -> list[date]:
    if table not in FOLDERS_OF_A_MONTH:
        return [day.date()]
    if OF_ONE_TIME.fullmatch(name):
        return [date.fromisoformat(name[:8])]
    return [(day + number * DAY).date() for number in range((folder_end(table, day) - day) // DAY)]
