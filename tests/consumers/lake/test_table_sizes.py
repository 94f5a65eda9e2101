"""Bytes by cluster, table and day, from the files' names and sizes alone."""

from datetime import UTC, date, datetime

import pytest

from consumers.lake.retention import table_sizes
from consumers.lake.store import Lake

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


@pytest.fixture
def lake(tmp_path) -> Lake:
    return Lake.at(str(tmp_path))


def a_file(lake: Lake, name: str, size: int) -> None:
    lake.filesystem.create_dir(lake.path(name.rsplit("/", 1)[0]), recursive=True)
    with lake.filesystem.open_output_stream(lake.path(name)) as stream:
        stream.write(b"x" * size)


def test_it_adds_up_files_by_cluster_table_and_day(lake: Lake) -> None:
    a_file(lake, "readings/cluster=prod/date=2026-03-12/hour=03/hour.parquet", 5)
    a_file(lake, "readings/cluster=prod/date=2026-03-12/hour=04/20260312T040000000000.parquet", 7)
    a_file(lake, "readings/cluster=prod/date=2026-03-13/hour=00/hour.parquet", 11)
    a_file(lake, "readings/cluster=a%20b/date=2026-03-13/hour=00/hour.parquet", 13)
    a_file(lake, "windows_3600/cluster=prod/date=2026-03-13/hour=00/hour.parquet", 17)
    a_file(lake, "unreadable/readings/cluster=prod/date=2026-03-13/hour=00/hour.parquet", 19)
    found = table_sizes(lake)
    assert {key: size.bytes for key, size in found.items()} == {
        ("prod", "readings"): 23, ("a b", "readings"): 13, ("prod", "windows_3600"): 17,
    }  # fmt: skip
    assert found["prod", "readings"].days == {date(2026, 3, 12): 12, date(2026, 3, 13): 11}


def test_days_of_a_month_count_for_themselves_and_a_whole_month_evenly(lake: Lake) -> None:
    a_file(lake, "windows_86400/cluster=prod/date=2026-02-01/hour=00/hour.parquet", 280)
    a_file(lake, "windows_86400/cluster=prod/date=2026-03-01/hour=00/20260301T000000000000.parquet", 9)
    a_file(lake, "windows_86400/cluster=prod/date=2026-03-01/hour=00/20260302T000000000000.parquet", 12)
    found = table_sizes(lake)["prod", "windows_86400"]
    assert (found.bytes, len(found.days)) == (301, 28 + 2)
    assert [found.days[date(2026, *day)] for day in ((2, 1), (2, 28), (3, 1), (3, 2))] == [10, 10, 9, 12]


def test_the_first_day_and_today_are_not_whole(lake: Lake) -> None:
    for day in (11, 12, 13, 14):
        a_file(lake, f"readings/cluster=prod/date=2026-03-{day}/hour=03/hour.parquet", day)
    found = table_sizes(lake)["prod", "readings"]
    assert found.whole_days(NOW) == {date(2026, 3, 12): 12, date(2026, 3, 13): 13}


def test_a_lake_without_files_has_no_sizes(lake: Lake) -> None:
    assert table_sizes(lake) == {}
