"""Which files a range of time opens, and which rows it gives."""

import shutil

import pyarrow.compute as pc
import pytest

from consumers.lake import reader
from consumers.lake.reader import files, folder_files, read
from consumers.lake.schemas import TABLES
from consumers.lake.store import Lake, hour_folder
from tests.pipeline_rows import at, put, rows


@pytest.fixture
def lake(tmp_path):
    return Lake.at(str(tmp_path))


def names(lake, since, until, cluster="prod"):
    found = files(lake, "readings", cluster, at(since), at(until))
    return [name.removeprefix(f"{lake.root}/readings/cluster={cluster}/date=2026-03-01/") for name in found]


def test_it_opens_only_the_hours_of_the_range(lake):
    put(lake, "readings", rows([(1, 1)] * 3, every=3600))
    assert names(lake, 3600, 7200) == ["hour=03/20260301T030000000000.parquet"]


def test_it_gives_nothing_where_nothing_was_written(lake):
    assert names(lake, 0, 7200) == []
    assert read(lake, "readings", "prod", at(0), at(7200)).num_rows == 0


def test_a_file_that_is_being_written_is_invisible(lake, tmp_path):
    put(lake, "readings", rows([(1, 1)]))
    folder = tmp_path / "readings/cluster=prod/date=2026-03-01/hour=02"
    (folder / ".20260301T020015000000.parquet.1234").write_bytes(b"half")
    assert names(lake, 0, 60) == ["hour=02/20260301T020000000000.parquet"]


def test_a_compacted_hour_hides_its_parts(lake, tmp_path):
    put(lake, "readings", rows([(1, 1), (2, 2)]))
    folder = tmp_path / "readings/cluster=prod/date=2026-03-01/hour=02"
    (folder / "20260301T020000000000.parquet").rename(folder / "hour.parquet")
    assert names(lake, 0, 60) == ["hour=02/hour.parquet"]


def test_the_range_is_half_open_and_filters_narrow_it(lake):
    put(lake, "readings", rows([(1, 9), (2, 9), (3, 9)]) + rows([(7, 9)], group="shipping"))
    found = read(lake, "readings", "prod", at(0), at(30), ["consumer_offset"], pc.field("group") == "billing")
    assert found.to_pylist() == [{"consumer_offset": 1}, {"consumer_offset": 2}]


def test_no_file_is_named_whose_rows_are_all_of_another_time(lake):
    put(lake, "readings", rows([(1, 9), (2, 9), (3, 9), (4, 9)]))
    assert names(lake, 15, 45) == ["hour=02/20260301T020015000000.parquet", "hour=02/20260301T020030000000.parquet"]


@pytest.mark.parametrize("table", ["readings", "windows_86400"])
def test_of_a_range_of_years_only_the_days_that_are_there_are_looked_up(lake, monkeypatch, table):
    for seconds in (0, 40 * 86_400):
        place = f"{hour_folder(table, 'prod', at(seconds))}/hour.parquet"
        lake.write(TABLES[table].empty_table(), place, TABLES[table])
    looked_up = []
    monkeypatch.setattr(reader, "hour_folder", lambda *place: looked_up.append(place) or hour_folder(*place))
    found = files(lake, table, "prod", at(-3650 * 86_400), at(3650 * 86_400))
    assert (len(found), len(looked_up) <= 42 * 24) == (2, True)


def put_hour(lake, hour, day=0):
    place = f"{hour_folder('knots', 'prod', at(day * 86_400 + hour * 3600))}/hour.parquet"
    lake.write(TABLES["knots"].empty_table(), place, TABLES["knots"])
    return place


def test_of_many_hours_only_those_that_are_there_are_looked_through(lake, monkeypatch):
    there = [put_hour(lake, 1), put_hour(lake, 5), put_hour(lake, 3, day=20)]
    looked_through = []
    monkeypatch.setattr(reader, "folder_files", lambda *place: looked_through.append(place[1]) or folder_files(*place))
    found = files(lake, "knots", "prod", at(-86_400), at(25 * 86_400))
    assert found == [lake.path(place) for place in there]
    assert looked_through == [place.rsplit("/", 1)[0] for place in there]


def test_a_day_that_is_settled_while_its_hours_are_looked_through_is_found_whole(lake, monkeypatch, tmp_path):
    before = [put_hour(lake, 1), put_hour(lake, 5)]

    def settles(*place):
        for hour in before:
            shutil.rmtree((tmp_path / hour).parent)
        before.clear()
        put_hour(lake, 0)
        monkeypatch.setattr(reader, "folder_files", folder_files)
        return folder_files(*place)

    monkeypatch.setattr(reader, "folder_files", settles)
    assert files(lake, "knots", "prod", at(0), at(2 * 86_400)) == [lake.path(put_hour(lake, 0))]
