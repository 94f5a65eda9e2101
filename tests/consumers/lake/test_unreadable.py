"""Files that cannot be read, as a power cut or a failing disk leaves them, and what goes on without them."""

import os
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from consumers.lake import knot_days
from consumers.lake.one_group import read_group
from consumers.lake.reader import files, read, read_moment
from consumers.lake.retention import compact, compact_hour, expire
from consumers.lake.schemas import READINGS, TABLES
from consumers.lake.store import Lake, file_name, hour_folder
from consumers.lake.unreadable import files_put_aside
from consumers.lake.windows import put_window
from tests.pipeline_rows import at, put, rows

COLUMNS = ["consumer_offset"]


@pytest.fixture
def lake(tmp_path):
    """Three readings of one hour, and one of the next."""
    lake = Lake.at(str(tmp_path))
    put(lake, "readings", rows([(1, 9), (2, 9), (3, 9)]) + rows([(4, 9)], start=3600))
    return lake


def of(lake, number):
    """The file of a reading."""
    return Path(files(lake, "readings", "prod", at(0), at(7200))[number])


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path):
    path.write_bytes(b"")


def zeros(path):
    path.write_bytes(bytes(path.stat().st_size))


def foreign(path):
    path.write_bytes(b"<html><body>Not found</body></html>")


def of_another_table(path):
    """It can be read, and has nothing of ours."""
    pq.write_table(pa.table({"name": ["another's"], "price": [7.5]}), path)


def cut_in_the_middle(path):
    """Its end is there."""
    content = path.read_bytes()
    path.write_bytes(content[:60] + content[160:])


def other_types(path):
    pq.write_table(pa.table({"cluster": ["prod"], "consumer_offset": ["no number"]}), path)


BREAKS = [cut, emptied, zeros, foreign, of_another_table, cut_in_the_middle, other_types]


def offsets(lake):
    found = read(lake, "readings", "prod", at(0), at(7200), COLUMNS).to_pylist()
    return sorted(row["consumer_offset"] for row in found)


@pytest.mark.parametrize("breaks", BREAKS)
def test_one_file_costs_a_range_its_own_rows_alone(lake, breaks):
    breaks(of(lake, 1))
    assert offsets(lake) == [1, 3, 4]
    [aside] = files_put_aside(lake)
    assert aside == f"{hour_folder('readings', 'prod', at(15))}/{file_name(at(15))}"


@pytest.mark.parametrize("breaks", [cut, emptied, zeros, foreign])
def test_what_is_cut_off_is_in_no_list_of_files_as_spark_gets_it(lake, breaks):
    broken = of(lake, 1)
    breaks(broken)
    assert str(broken) not in files(lake, "readings", "prod", at(0), at(7200))


@pytest.mark.parametrize("breaks", BREAKS)
def test_a_group_is_read_without_it(lake, breaks):
    breaks(of(lake, 1))
    found = read_group(lake, "readings", "prod", "billing", at(0), at(7200), COLUMNS)
    assert sorted(found["consumer_offset"].to_pylist()) == [1, 3, 4]


@pytest.mark.parametrize("breaks", BREAKS)
def test_the_very_reading_is_gone_and_its_neighbour_is_not(lake, breaks):
    breaks(of(lake, 1))
    there = pc.field("group") == "billing"
    found = [read_moment(lake, "readings", "prod", at(15 * n), COLUMNS, there) for n in range(3)]
    assert [None if one is None else one.num_rows for one in found] == [1, None, 1]


@pytest.mark.parametrize("breaks", BREAKS)
def test_an_hour_is_compacted_without_it_and_so_are_those_that_follow(lake, breaks):
    breaks(of(lake, 1))
    assert compact(lake, at(7200) + timedelta(hours=2), timedelta(minutes=10)) == 2
    assert [Path(name).name for name in files(lake, "readings", "prod", at(0), at(7200))] == ["hour.parquet"] * 2
    assert (offsets(lake), len(files_put_aside(lake))) == ([1, 3, 4], 1)


@pytest.mark.parametrize("breaks", BREAKS)
def test_a_compacted_hour_that_cannot_be_read_gives_way_to_its_parts(lake, breaks):
    folder = hour_folder("readings", "prod", at(0))
    parts = {path: path.read_bytes() for path in map(Path, files(lake, "readings", "prod", at(0), at(60)))}
    compact_hour(lake, "readings", folder)
    # As after a crash before the parts were deleted.
    for path, content in parts.items():
        path.write_bytes(content)
    breaks(Path(lake.path(f"{folder}/hour.parquet")))
    assert offsets(lake) == [1, 2, 3, 4]
    assert compact(lake, at(7200) + timedelta(hours=2), timedelta(minutes=10)) == 2
    assert offsets(lake) == [1, 2, 3, 4]


def test_a_window_is_put_beside_an_hour_that_cannot_be_read(lake):
    folder, schema = hour_folder("windows_60", "prod", at(0)), TABLES["windows_60"]
    start = {"cluster": "prod", "start": at(0), "step_seconds": 60, "group": "billing"}
    window = pa.Table.from_pylist([start], schema)
    lake.write(window, f"{folder}/hour.parquet", schema)
    cut_in_the_middle(Path(lake.path(f"{folder}/hour.parquet")))
    put_window(lake, "windows_60", "prod", at(0), window)
    assert read(lake, "windows_60", "prod", at(0), at(60)).num_rows == 1


def test_a_day_of_knots_is_settled_without_it(lake):
    knots = [
        {
            "cluster": "prod",
            "topic": "Order",
            "broker": "broker-a",
            "queue_id": 0,
            "broker_offset": n,
            "at": at(3600 * n),
        }
        for n in range(3)
    ]
    put(lake, "knots", knots, time="at")
    cut_in_the_middle(Path(files(lake, "knots", "prod", at(3600), at(3601))[0]))
    assert knot_days.settle(lake, at(3 * 86400)) == 1
    day = read(lake, "knots", "prod", knot_days.day_start(at(0)), at(7300))
    assert sorted(day["broker_offset"].to_pylist()) == [0, 2]


def test_what_was_put_aside_goes_with_its_hour(lake):
    cut(of(lake, 1))
    assert (offsets(lake), len(files_put_aside(lake))) == ([1, 3, 4], 1)
    expire(lake, at(3 * 3600), {"readings": timedelta(hours=1)})
    assert files_put_aside(lake) == []


def test_what_is_wrong_with_the_question_puts_no_file_aside(lake):
    with pytest.raises(pa.ArrowInvalid):
        read(lake, "readings", "prod", at(0), at(7200), ["no such column"])
    assert files_put_aside(lake) == []


def test_a_disk_that_fails_puts_no_file_aside(lake, monkeypatch):
    def fails(*_):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("consumers.lake.reader.dataset", fails)
    with pytest.raises(OSError, match="Input/output error"):
        read(lake, "readings", "prod", at(0), at(7200))
    assert files_put_aside(lake) == []


def test_a_file_is_on_the_disk_before_its_name_is(lake, monkeypatch):
    steps = []
    sync = os.fsync

    def note(opened):
        steps.append(Path(os.readlink(f"/proc/self/fd/{opened}")).name)
        sync(opened)

    monkeypatch.setattr(os, "fsync", note)
    lake.write(pa.Table.from_pylist(rows([(1, 1)]), READINGS), "readings/somewhere/x.parquet", READINGS)
    aside, folder = steps
    assert aside.startswith(".x.parquet.")
    assert folder == "somewhere"
    steps.clear()
    compact_hour(lake, "readings", hour_folder("readings", "prod", at(0)))
    aside, folder = steps
    assert aside.startswith(".hour.parquet.")
    assert folder == "hour=02"
