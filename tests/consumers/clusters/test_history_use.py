"""What the history takes, as it was measured; what was not measured is unknown, and no growth is made up."""

from datetime import timedelta
from typing import Any

import pytest

from consumers.clusters.history_use import DOES_NOT_GROW, NO_FREE, NOT_MEASURED, TableUse, history_use, history_uses
from consumers.lake.schemas import TABLES
from consumers.lake.store import MIB, Lake
from consumers.models import HistorySize
from consumers.pipeline.upkeep import measure_history
from tests.world import NOW, ago

pytestmark = pytest.mark.django_db

TODAY = NOW.date()


def days_ago(days: int) -> str:
    return (TODAY - timedelta(days=days)).isoformat()


def a_table(size: int = 1000, first: int = 5, whole: dict[int, int] | None = None) -> dict[str, Any]:
    """`first`: how many days ago. `whole`: bytes of whole days, by how many days ago."""
    days = [[days_ago(ago), count] for ago, count in sorted((whole or {}).items(), reverse=True)]
    return {
        "bytes": size,
        "first_day": days_ago(first),
        "oldest_whole_day": days[0] if days else None,
        "newest_whole_days": days[-7:],
    }


def measured(free_mib: float | None = 10_000, **tables: dict[str, Any]) -> None:
    """Of the cluster prod."""
    free = None if free_mib is None else int(free_mib * MIB)
    HistorySize.objects.create(measured_at=ago(60), seconds=0.1, free_bytes=free, tables={"prod": tables})


def of_table(name: str, cluster: str | None = None) -> TableUse:
    return next(table for table in history_use(cluster).tables if table.table == name)


def test_before_it_was_measured_all_is_unknown_but_how_long_tables_are_kept():
    found = history_use()
    assert (found.measured_at, found.bytes, found.growth_bytes_a_day, found.floor_seconds) == (None,) * 4
    assert set(found.unknown.values()) == {NOT_MEASURED}
    assert {table.bytes for table in found.tables} == {None}
    assert {table.table: table.kept_seconds / 86400 for table in found.tables} == {
        "readings": 2, "membership": 2, "ownership": 2, "stored_offsets": 2, "dead_letters": 2, "knots": 30,
        "member_rates": 7, "windows_60": 7, "windows_600": 90, "windows_3600": 730, "windows_86400": 1825,
    }  # fmt: skip


def test_it_grows_by_what_its_whole_days_take():
    measured(windows_600=a_table(1000, whole={3: 100, 2: 200, 1: 300}), windows_3600=a_table(50, whole={1: 10}))
    found = history_use()
    assert (found.measured_at, found.bytes, found.growth_bytes_a_day) == (ago(60), 1050, 210)
    assert of_table("windows_600").growth_bytes_a_day == 200


def test_a_table_as_old_as_it_is_kept_grows_by_no_more_than_its_days_grow():
    measured(readings=a_table(first=2, whole={1: 400}), windows_60=a_table(first=7, whole={6: 100, 1: 130}))
    assert of_table("readings").growth_bytes_a_day == 0
    assert of_table("windows_60").growth_bytes_a_day == 15


def test_without_a_whole_day_growth_is_unknown():
    measured(readings=a_table(first=1), windows_600=a_table(whole={1: 300}))
    found = history_use()
    assert (found.bytes, found.growth_bytes_a_day, found.floor_seconds) == (2000, None, None)
    reason = f"no full day (UTC) of 1 of {len(found.tables)} tables is stored yet"
    assert found.unknown == {"growth_bytes_a_day": reason, "floor_seconds": reason}
    assert "growth_bytes_a_day" in of_table("readings").unknown


def test_the_disk_lasts_until_its_floor_at_the_growth_of_all_clusters(settings):
    settings.LAKE_DISK_FLOOR_MIB = 1000
    measured(3000, windows_600=a_table(whole={1: 50 * MIB}))
    HistorySize.objects.update(tables={name: HistorySize.objects.get().tables["prod"] for name in ("prod", "test")})
    every, prod = history_uses([None, "prod"]).values()
    assert (every.growth_bytes_a_day, prod.growth_bytes_a_day) == (100 * MIB, 50 * MIB)
    assert every.floor_seconds == prod.floor_seconds == 20 * 86400


@pytest.mark.parametrize(
    ("free_mib", "growth", "seconds", "reason"),
    [
        (None, 100, None, NO_FREE),
        (3000, 0, None, DOES_NOT_GROW),
        (500, 100, 0, None),
        (500, 0, 0, None),
    ],
    ids=["a store of objects", "nothing grows", "below the floor", "below it, and nothing grows"],
)
def test_how_long_the_disk_lasts_is_never_made_up(settings, free_mib, growth, seconds, reason):
    settings.LAKE_DISK_FLOOR_MIB = 512
    measured(free_mib, windows_600=a_table(whole={1: growth}))
    found = history_use()
    assert (found.floor_seconds, found.unknown.get("floor_seconds")) == (seconds, reason)


def test_on_the_first_day_nobody_knows_how_any_table_grows():
    measured(readings=a_table(first=1))
    assert of_table("windows_86400").bytes == 0
    assert {table.growth_bytes_a_day for table in history_use().tables} == {None}
    assert history_use().unknown["growth_bytes_a_day"] == "no full day (UTC) is stored yet"


def test_a_cluster_without_files_takes_no_room_and_nobody_knows_how_it_grows():
    measured(windows_600=a_table(whole={1: 300}))
    found = history_use("test")
    assert (found.bytes, found.growth_bytes_a_day) == (0, None)


def test_it_is_measured_once_an_hour(tmp_path):
    lake = Lake.at(str(tmp_path))
    name = "windows_600/cluster=prod/date={}/hour=03"
    for days in (3, 2, 1, 0):
        folder = tmp_path / name.format(days_ago(days))
        folder.mkdir(parents=True)
        (folder / "hour.parquet").write_bytes(b"x" * 10)
    assert measure_history(lake, NOW)
    assert not measure_history(lake, NOW + timedelta(minutes=10))
    assert measure_history(lake, NOW + timedelta(hours=1))
    [row] = HistorySize.objects.all()
    assert row.measured_at == NOW + timedelta(hours=1)
    table = row.tables["prod"]["windows_600"]
    assert (table["bytes"], table["first_day"], table["newest_whole_days"]) == (
        40,
        days_ago(3),
        [[days_ago(2), 10], [days_ago(1), 10]],
    )
    assert history_use().free_bytes == row.free_bytes > 0


def test_every_table_is_measured():
    assert {table.table for table in history_use().tables} == set(TABLES)
