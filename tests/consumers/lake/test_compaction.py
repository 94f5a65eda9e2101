"""An hour becomes one file; whatever step it is killed at, its rows are there once."""

from datetime import timedelta

import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from consumers.lake import retention
from consumers.lake.reader import TIME_COLUMN, files, read
from consumers.lake.schemas import TABLES
from consumers.lake.store import Lake
from tests.pipeline_rows import at, put, rows

MARGIN = timedelta(minutes=10)
AN_HOUR_LATER = at(3600 + 600)
FOLDER = "readings/cluster=prod/date=2026-03-01/hour=02"
READINGS = rows([(n, 9) for n in range(4)], group="shipping") + rows([(n, 9) for n in range(4)], group="billing")


@pytest.fixture
def lake(place):
    lake = Lake.at(place)
    put(lake, "readings", READINGS)
    return lake


def standing(lake):
    return sorted(entry.base_name for entry in lake.filesystem.get_file_info(pafs.FileSelector(lake.path(FOLDER))))


def leave_half(lake, name):
    """As a writer does that is killed."""
    lake.make_folder_of(lake.path(f"{FOLDER}/{name}"))
    with lake.filesystem.open_output_stream(lake.path(f"{FOLDER}/{name}")) as file:
        file.write(b"half")


def shown(lake):
    return sorted(
        (row["group"], row["consumer_offset"]) for row in read(lake, "readings", "prod", at(0), at(60)).to_pylist()
    )


ALL = sorted((row["group"], row["consumer_offset"]) for row in READINGS)


def test_a_closed_hour_becomes_one_sorted_file(lake):
    assert retention.compact(lake, AN_HOUR_LATER, MARGIN) == 1
    (only,) = files(lake, "readings", "prod", at(0), at(60))
    assert only.endswith("/hour.parquet")
    assert [row["group"] for row in read(lake, "readings", "prod", at(0), at(60)).to_pylist()] == ["billing"] * 4 + [
        "shipping"
    ] * 4
    assert shown(lake) == ALL


def test_row_groups_of_a_large_hour_hold_ten_minutes_each(tmp_path, monkeypatch):
    monkeypatch.setattr(retention, "rows_in_group", lambda rows: 2)
    lake = Lake.at(str(tmp_path))
    two = [row for group in ("shipping", "billing") for row in rows([(0, 9)] * 3, every=600, group=group)]
    put(lake, "readings", two)
    retention.compact(lake, AN_HOUR_LATER, MARGIN)
    footer = pq.read_metadata(lake.path(f"{FOLDER}/hour.parquet"))
    column = footer.schema.names.index("taken_at")
    times = [footer.row_group(number).column(column).statistics for number in range(footer.num_row_groups)]
    assert [(one.min, one.max) for one in times] == [(at(600 * n), at(600 * n)) for n in range(3)]


def test_an_hour_that_is_not_over_stays_as_it_is(lake):
    assert retention.compact(lake, at(3600 + 599), MARGIN) == 0
    assert len(files(lake, "readings", "prod", at(0), at(60))) == 4


def test_a_compacted_hour_is_left_alone(lake):
    retention.compact(lake, AN_HOUR_LATER, MARGIN)
    assert retention.compact(lake, AN_HOUR_LATER, MARGIN) == 0


def test_killed_while_writing_it_shows_the_parts(lake):
    leave_half(lake, ".hour.parquet.1234")
    assert shown(lake) == ALL
    retention.compact(lake, AN_HOUR_LATER, MARGIN)
    assert shown(lake) == ALL
    assert standing(lake) == ["hour.parquet"]


def test_killed_after_the_rename_it_shows_the_hour_once(lake):
    parts = files(lake, "readings", "prod", at(0), at(60))
    retention.write_hour(lake, "readings", FOLDER, parts)
    assert len(standing(lake)) == 5
    assert shown(lake) == ALL
    assert retention.compact(lake, AN_HOUR_LATER, MARGIN) == 1
    assert standing(lake) == ["hour.parquet"]
    assert shown(lake) == ALL


def test_killed_among_the_deletions_it_shows_the_hour_once(lake):
    parts = files(lake, "readings", "prod", at(0), at(60))
    retention.write_hour(lake, "readings", FOLDER, parts)
    lake.filesystem.delete_file(parts[0])
    assert shown(lake) == ALL
    retention.compact(lake, AN_HOUR_LATER, MARGIN)
    assert shown(lake) == ALL


def test_an_hour_too_large_for_memory_is_sorted_in_pieces(lake):
    retention.compact(lake, AN_HOUR_LATER, MARGIN, rows_at_once=3)
    assert shown(lake) == ALL
    assert read(lake, "readings", "prod", at(0), at(60))["group"].to_pylist() == ["billing"] * 4 + ["shipping"] * 4


def test_rows_without_a_group_survive_in_pieces_too(lake):
    place = {"cluster": "prod", "taken_at": at(0)}
    stored = [{**place, "group": group, "offset": n} for n, group in enumerate(["billing", None, "audit", None])]
    put(lake, "stored_offsets", stored)
    retention.compact(lake, AN_HOUR_LATER, MARGIN, rows_at_once=2)
    compacted = read(lake, "stored_offsets", "prod", at(0), at(60)).to_pylist()
    assert [(row["group"], row["offset"]) for row in compacted] == [("audit", 2), ("billing", 0), (None, 1), (None, 3)]


def test_a_reading_that_comes_after_its_hour_was_compacted_is_taken_in_once(lake):
    retention.compact(lake, AN_HOUR_LATER, MARGIN)
    late = rows([(77, 99)], start=50, group="late")
    put(lake, "readings", late)
    assert retention.compact(lake, AN_HOUR_LATER, MARGIN) == 1
    assert shown(lake) == sorted([*ALL, ("late", 77)])
    assert standing(lake) == ["hour.parquet"]


def test_leftover_parts_are_not_taken_for_late_ones(lake):
    parts = files(lake, "readings", "prod", at(0), at(60))
    retention.write_hour(lake, "readings", FOLDER, parts)
    put(lake, "readings", rows([(77, 99)], start=50, group="late"))
    retention.compact(lake, AN_HOUR_LATER, MARGIN)
    assert shown(lake) == sorted([*ALL, ("late", 77)])


def test_an_hour_of_nothing_but_an_unfinished_file_is_left_alone(place):
    lake = Lake.at(place)
    leave_half(lake, ".20260301T020000000000.parquet.1234")
    retention.compact(lake, AN_HOUR_LATER, MARGIN)
    assert files(lake, "readings", "prod", at(0), at(60)) == []


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_table_can_be_compacted_by_its_time(place, table):
    lake, time = Lake.at(place), TIME_COLUMN[table]
    found = [{"cluster": "prod", "broker": "broker-a", "topic": "Orders", "queue_id": 0, time: at(n)} for n in (15, 0)]
    put(lake, table, [{name: row.get(name) for name in TABLES[table].names} for row in found], time)
    retention.compact(lake, AN_HOUR_LATER, MARGIN)
    assert [row[time] for row in read(lake, table, "prod", at(0), at(60)).to_pylist()] == [at(0), at(15)]


def test_what_comes_into_a_compacted_hour_is_seen_at_once_and_taken_in_later(lake):
    """As after a clock that was ahead."""
    retention.compact(lake, AN_HOUR_LATER, MARGIN)
    late = rows([(7, 9)], start=3000, group="billing")
    put(lake, "readings", late)
    assert shown(lake) == ALL
    found = read(lake, "readings", "prod", at(0), at(3600)).to_pylist()
    assert sorted((row["group"], row["consumer_offset"]) for row in found) == sorted([*ALL, ("billing", 7)])

    retention.compact(lake, AN_HOUR_LATER, MARGIN)

    assert standing(lake) == ["hour.parquet"]
    assert len(read(lake, "readings", "prod", at(0), at(3600))) == len(ALL) + 1
