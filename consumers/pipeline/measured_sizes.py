"""Measures from time to time how much room the history takes, for pages that must not look through it themselves."""

import time
from datetime import datetime, timedelta

from consumers.lake.disk import MIB, free_mib
from consumers.lake.store import Lake
from consumers.lake.table_sizes import table_sizes
from consumers.models import HistorySize

EVERY = timedelta(minutes=50)
# A week has its quiet days.
DAYS = 7


def measure_history(lake: Lake, now: datetime) -> bool:
    """Unless it was done within the hour. What is stored: see HistorySize."""
    if HistorySize.objects.filter(measured_at__gt=now - EVERY, measured_at__lte=now).exists():
        return False
    began = time.monotonic()
    tables: dict[str, dict[str, object]] = {}
    for (cluster, table), size in table_sizes(lake).items():
        whole = [[day.isoformat(), count] for day, count in size.whole_days(now).items()]
        tables.setdefault(cluster, {})[table] = {
            "bytes": size.bytes,
            "first_day": min(size.days).isoformat(),
            "oldest_whole_day": whole[0] if whole else None,
            "newest_whole_days": whole[-DAYS:],
        }
    free = free_mib(lake)
    values = {"measured_at": now, "seconds": time.monotonic() - began, "tables": tables}
    values["free_bytes"] = None if free is None else int(free * MIB)
    HistorySize.objects.update_or_create(pk=1, defaults=values)
    return True
