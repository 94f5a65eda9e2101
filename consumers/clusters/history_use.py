"""Disk use of the history: size, growth, time until the disk is full, and retention of each table.

The values are those that upkeep measured: nothing here reads the lake. What was not measured is unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from consumers.lake.store import MIB
from consumers.models import HistorySize
from consumers.pipeline.upkeep import DAY_SECONDS, retentions
from consumers.queries.declared import answer, given, public

NOT_MEASURED = gettext_lazy("not measured yet: the Spark worker measures it every hour")
NO_WHOLE_DAY = gettext_lazy("no full day (UTC) of it is stored yet")
NO_WHOLE_DAYS = gettext_lazy("no full day (UTC) is stored yet")
NO_FREE = gettext_lazy("the file system does not report free space")
DOES_NOT_GROW = gettext_lazy("the size is stable: as much is deleted as is added")


@answer(name="HistoryTable")
@dataclass(frozen=True)
class TableUse:
    """`growth_bytes_a_day` is below zero where it shrinks."""

    table: str = field(metadata=public("`windows_3600`: of an hour for each queue; `readings`: every single one"))
    kept_seconds: float = field(metadata=public("Retention, by a setting"))
    bytes: int | None
    growth_bytes_a_day: float | None = field(
        metadata=public("The size of the last complete days (UTC), less the oldest day if retention is reached")
    )
    unknown: Mapping[str, str] = field(default_factory=dict)


@answer("The room that the history takes, as upkeep measures it every hour. The disk is that of all clusters.")
@dataclass(frozen=True)
class HistoryUse:
    """Of one cluster or of all. `free_bytes` and `floor_seconds` are of the disk, which all clusters share:
    `floor_seconds` from the measuring until it has no more than `floor_bytes` free, at the growth of all."""

    measured_at: datetime | None
    bytes: int | None = field(metadata=public("Of this cluster"))
    growth_bytes_a_day: float | None = field(metadata=public("Of this cluster"))
    free_bytes: int | None = field(metadata=public("On the disk, when it was measured"))
    floor_bytes: int = field(metadata=public("With less free than this no history is added, by a setting"))
    floor_seconds: float | None = field(
        metadata=public("From `measured_at` until the disk is at its floor, at the growth of all clusters")
    )
    tables: Sequence[TableUse]
    unknown: Mapping[str, str]


def history_use(cluster: str | None = None) -> HistoryUse:
    """One query."""
    return history_uses([cluster])[cluster]


def history_uses(clusters: Sequence[str | None]) -> dict[str | None, HistoryUse]:
    """Of each cluster; of all for None. One query."""
    measured = HistorySize.objects.order_by("-measured_at").first()
    every = None if measured is None else _tables(measured, None)
    return {cluster: _use(measured, every, cluster) for cluster in clusters}


def _use(measured: HistorySize | None, every: Sequence[TableUse] | None, cluster: str | None) -> HistoryUse:
    floor = int(settings.LAKE_DISK_FLOOR_MIB * MIB)
    if measured is None or every is None:
        missing = dict.fromkeys(("bytes", "growth_bytes_a_day"), str(NOT_MEASURED))
        not_measured = [
            TableUse(name, retention.total_seconds(), None, None, missing) for name, retention in retentions().items()
        ]
        unknown = dict.fromkeys(("measured_at", *missing, "free_bytes", "floor_seconds"), str(NOT_MEASURED))
        return HistoryUse(None, None, None, None, floor, None, not_measured, unknown)
    tables = every if cluster is None else _tables(measured, cluster)
    growth, why_no_growth = _growth(tables)
    seconds, why_not = _floor(measured, floor, *_growth(every))
    reasons = {
        "growth_bytes_a_day": why_no_growth,
        "floor_seconds": why_not,
        "free_bytes": str(NO_FREE) if measured.free_bytes is None else None,
    }
    return HistoryUse(
        measured_at=measured.measured_at,
        bytes=sum(table.bytes or 0 for table in tables),
        growth_bytes_a_day=growth,
        free_bytes=measured.free_bytes,
        floor_bytes=floor,
        floor_seconds=seconds,
        tables=tables,
        unknown=given(reasons),
    )


def _tables(measured: HistorySize, cluster: str | None) -> list[TableUse]:
    """Without files a table takes no room. Zero growth is known once a whole day of another table is stored."""
    chosen = list(measured.tables.values()) if cluster is None else [measured.tables.get(cluster, {})]
    has_whole_day = any(entry["newest_whole_days"] for tables in chosen for entry in tables.values())
    found = []
    for name, retention in retentions().items():
        entries = [tables[name] for tables in chosen if name in tables]
        growths = [_table_growth(entry, retention, measured.measured_at) for entry in entries]
        known = [growth for growth in growths if growth is not None]
        is_known = len(known) == len(growths) and (bool(entries) or has_whole_day)
        found.append(
            TableUse(
                table=name,
                kept_seconds=retention.total_seconds(),
                bytes=sum(entry["bytes"] for entry in entries),
                growth_bytes_a_day=sum(known) if is_known else None,
                unknown={} if is_known else {"growth_bytes_a_day": str(NO_WHOLE_DAY)},
            )
        )
    return found


def _table_growth(entry: Mapping[str, Any], retention: timedelta, now: datetime) -> float | None:
    sizes = [size for _day, size in entry["newest_whole_days"]]
    if not sizes:
        return None
    is_full = date.fromisoformat(entry["first_day"]) <= (now.astimezone(UTC) - retention).date()
    return sum(sizes) / len(sizes) - (entry["oldest_whole_day"][1] if is_full else 0)


def _growth(tables: Sequence[TableUse]) -> tuple[float | None, str | None]:
    unknown = sum(table.growth_bytes_a_day is None for table in tables)
    if unknown:
        return None, str(NO_WHOLE_DAYS) if unknown == len(tables) else gettext(
            "no full day (UTC) of %(unknown)s of %(tables)s tables is stored yet"
        ) % {"unknown": unknown, "tables": len(tables)}
    return sum(table.growth_bytes_a_day or 0 for table in tables), None


def _floor(
    measured: HistorySize, floor: int, growth: float | None, why_no_growth: str | None
) -> tuple[float | None, str | None]:
    if measured.free_bytes is None:
        return None, str(NO_FREE)
    if measured.free_bytes <= floor:
        return 0.0, None
    if growth is None:
        return None, why_no_growth
    if growth <= 0:
        return None, str(DOES_NOT_GROW)
    return (measured.free_bytes - floor) / growth * DAY_SECONDS, None
