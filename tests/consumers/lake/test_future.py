"""History of times that have yet to come is set aside, file by file, and nothing of it is lost."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.fs as pafs
import pytest

from consumers.lake.knot_days import settle
from consumers.lake.reader import TIME_COLUMN, read
from consumers.lake.retention import FOLDER, compact, expire, set_future_aside
from consumers.lake.schemas import TABLES
from consumers.lake.store import Lake, file_name, hour_folder
from consumers.lake.windows import put_window

NOW = datetime(2026, 3, 14, 12, 4, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


@pytest.fixture
def lake(tmp_path) -> Lake:
    return Lake.at(str(tmp_path))


def a_file(lake: Lake, at: datetime, table: str = "readings") -> None:
    time = TIME_COLUMN[table]
    row = {"cluster": "prod", time: at, "group": "billing", "topic": "orders", "broker": "a", "queue_id": 0}
    schema = TABLES[table]
    rows = pa.Table.from_pylist([{name: row.get(name) for name in schema.names}], schema)
    lake.write(rows, f"{hour_folder(table, 'prod', at)}/{file_name(at)}", schema)


def times(lake: Lake, table: str = "readings") -> list[datetime]:
    found = read(lake, table, "prod", NOW - 9 * DAY, NOW + 9 * DAY)
    return sorted(found[TIME_COLUMN[table]].to_pylist())


def test_files_of_times_to_come_are_set_aside_and_the_others_stay(lake: Lake) -> None:
    for minutes in (-60, -1, 1, 60, 3 * 1440):
        a_file(lake, NOW + minutes * MINUTE)
    assert set_future_aside(lake, NOW) == 3
    assert times(lake) == [NOW - 60 * MINUTE, NOW - MINUTE]


def test_what_is_set_aside_lies_by_its_path_under_a_folder_of_its_own(lake: Lake) -> None:
    a_file(lake, NOW + MINUTE)
    set_future_aside(lake, NOW)
    place = f"{FOLDER}/{hour_folder('readings', 'prod', NOW)}/{file_name(NOW + MINUTE)}"
    assert lake.filesystem.get_file_info(lake.path(place)).is_file


def test_an_hour_that_is_one_file_already_keeps_what_has_come_and_takes_new_readings(lake: Lake) -> None:
    a_file(lake, NOW - MINUTE)
    a_file(lake, NOW + MINUTE)
    compact(lake, NOW + timedelta(hours=2), MINUTE)
    assert set_future_aside(lake, NOW) == 1
    a_file(lake, NOW + 2 * MINUTE)
    assert times(lake) == [NOW - MINUTE, NOW + 2 * MINUTE]


def test_what_has_come_is_found_by_a_range_that_begins_after_the_hour_did(lake: Lake) -> None:
    a_file(lake, NOW - MINUTE)
    a_file(lake, NOW + MINUTE)
    compact(lake, NOW + timedelta(hours=2), MINUTE)
    set_future_aside(lake, NOW)
    assert read(lake, "readings", "prod", NOW - 2 * MINUTE, NOW)["taken_at"].to_pylist() == [NOW - MINUTE]


def test_a_day_of_knots_that_was_settled_keeps_what_has_come(lake: Lake) -> None:
    a_file(lake, NOW - 60 * MINUTE, "knots")
    a_file(lake, NOW + 60 * MINUTE, "knots")
    settle(lake, NOW + 3 * DAY)
    assert set_future_aside(lake, NOW) == 1
    assert times(lake, "knots") == [NOW - 60 * MINUTE]


def test_a_second_turn_finds_nothing_more(lake: Lake) -> None:
    a_file(lake, NOW - MINUTE)
    a_file(lake, NOW + MINUTE)
    compact(lake, NOW + timedelta(hours=2), MINUTE)
    set_future_aside(lake, NOW)
    assert set_future_aside(lake, NOW) == 0


@pytest.mark.parametrize(("table", "step"), [("windows_60", MINUTE), ("windows_600", 10 * MINUTE)])
def test_a_window_that_holds_now_is_there_once_when_it_is_written_again(
    lake: Lake, table: str, step: timedelta
) -> None:
    start = NOW.replace(minute=0)
    for number in range(8):
        a_file(lake, start + number * step, table)
    compact(lake, NOW + 2 * DAY, MINUTE)
    set_future_aside(lake, NOW + MINUTE / 2)
    there = times(lake, table)
    put_window(lake, table, "prod", there[-1], read(lake, table, "prod", there[-1], there[-1] + MINUTE))
    assert times(lake, table) == there


def test_knots_of_several_files_that_have_come_all_stay(lake: Lake) -> None:
    """The end of a flat run lies in the file of the minute in which the change was seen."""
    place = {"cluster": "prod", "topic": "orders", "broker": "a", "queue_id": 0}
    for minute, earlier in ((1, -9), (2, -5)):
        seen = [(NOW + earlier * MINUTE, 7), (NOW + minute * MINUTE, 8)]
        rows = pa.Table.from_pylist([{**place, "at": at, "broker_offset": end} for at, end in seen], TABLES["knots"])
        put_window(lake, "knots", "prod", NOW + minute * MINUTE, rows)
    assert set_future_aside(lake, NOW) == 2
    assert times(lake, "knots") == [NOW - 9 * MINUTE, NOW - 5 * MINUTE]


def test_what_is_set_aside_twice_is_there_twice(lake: Lake) -> None:
    for _ in range(2):
        a_file(lake, NOW + MINUTE)
        set_future_aside(lake, NOW)
    folder = lake.path(f"{FOLDER}/{hour_folder('readings', 'prod', NOW)}")
    assert len(lake.filesystem.get_file_info(pafs.FileSelector(folder))) == 2


def test_what_is_set_aside_goes_with_the_hour_that_it_lies_in(lake: Lake) -> None:
    a_file(lake, NOW + MINUTE)
    set_future_aside(lake, NOW)
    place = lake.path(f"{FOLDER}/{hour_folder('readings', 'prod', NOW)}")
    expire(lake, NOW + DAY, {"readings": 2 * DAY})
    assert lake.filesystem.get_file_info(place).type == pafs.FileType.Directory
    expire(lake, NOW + 4 * DAY, {"readings": 2 * DAY})
    assert lake.filesystem.get_file_info(place).type == pafs.FileType.NotFound


@pytest.mark.parametrize(("table", "step"), [("windows_3600", timedelta(hours=1)), ("windows_86400", DAY)])
def test_hours_and_days_to_come_are_set_aside_out_of_the_folder_of_a_day_or_month(lake, table, step) -> None:
    for start in (NOW - step, NOW + step):
        a_file(lake, start, table)
    assert set_future_aside(lake, NOW) == 1
    assert times(lake, table) == [NOW - step]
