"""One group's rows, and how little of a file is decoded for them."""

import os
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import pytest

from consumers.lake import retention, store
from consumers.lake.one_group import Footers, read_group, row_groups
from consumers.lake.reader import files, read
from consumers.lake.schemas import WINDOWS
from consumers.lake.store import Lake
from consumers.lake.windows import put_window
from tests.pipeline_rows import PLACE, at

COLUMNS = ("start", "topic", "queue_id", "lag_messages", "unknown_reason")
GROUPS = ["a", "b", "billing", "c", "é"]


def window(minute):
    shared = {**PLACE, "start": at(60 * minute), "step_seconds": 60, "kind": "normal", "readings": 4}
    found = [
        {**shared, "group": group, "queue_id": queue_id, "lag_messages": minute or None}
        for group in reversed(GROUPS)
        for queue_id in range(3)
    ]
    return pa.Table.from_pylist(found, WINDOWS)


@pytest.fixture
def lake(tmp_path):
    lake = Lake.at(str(tmp_path))
    for minute in (0, 1, 59, 61):
        put_window(lake, "windows_60", "prod", at(60 * minute), window(minute))
    return lake


def rows(lake, group, until=7200):
    found = read_group(lake, "windows_60", "prod", group, at(60), at(until), COLUMNS)
    return found.sort_by([("start", "ascending"), ("queue_id", "ascending")]).to_pylist()


def expected(lake, group, until=7200):
    found = read(lake, "windows_60", "prod", at(60), at(until), COLUMNS, pc.field("group") == group)
    return found.sort_by([("start", "ascending"), ("queue_id", "ascending")]).to_pylist()


@pytest.mark.parametrize("group", [*GROUPS, "nobody", ""])
@pytest.mark.parametrize("compacted", [False, True], ids=["in_parts", "compacted"])
def test_it_gives_what_a_scan_of_everything_gives(lake, monkeypatch, group, compacted):
    monkeypatch.setattr(store, "LEAST_ROWS_IN_GROUP", 2)
    before = expected(lake, group)
    if compacted:
        retention.compact(lake, at(2 * 3600 + 60), timedelta(0))
    assert rows(lake, group) == before == expected(lake, group)
    assert len(before) == (9 if group in GROUPS else 0)


def test_the_range_is_half_open(lake):
    assert {row["start"] for row in rows(lake, "billing", until=59 * 60)} == {at(60)}


def test_nothing_that_was_written_is_an_empty_table(tmp_path):
    found = read_group(Lake.at(str(tmp_path)), "windows_60", "prod", "billing", at(0), at(60), COLUMNS)
    assert (found.num_rows, found.column_names) == (0, list(COLUMNS))


def test_of_a_sorted_hour_only_the_row_groups_that_may_hold_it_are_chosen(tmp_path):
    many = [{**PLACE, "start": at(0), "group": f"group-{n:04d}", "queue_id": q} for n in range(400) for q in range(64)]
    lake = Lake.at(str(tmp_path))
    put_window(lake, "windows_600", "prod", at(0), pa.Table.from_pylist(many, WINDOWS))
    retention.compact(lake, at(7200), timedelta(0))
    (name,) = files(lake, "windows_600", "prod", at(0), at(600))
    metadata = pq.read_metadata(name)
    assert metadata.num_row_groups == 4
    assert row_groups(metadata, "group", lambda least, greatest: least <= "group-0007" <= greatest) == [0]


def test_an_hour_that_is_swapped_meanwhile_is_read_all_the_same(lake):
    class Swapping(pafs.LocalFileSystem):
        swapped = False

        def open_input_file(self, *args, **kwargs):
            if not Swapping.swapped:
                Swapping.swapped = True
                retention.compact(lake, at(2 * 3600), timedelta(0))
            return super().open_input_file(*args, **kwargs)

    before = rows(lake, "billing")
    assert rows(Lake(Swapping(), lake.root, lake.url), "billing") == before


def test_files_of_other_minutes_are_not_opened(lake):
    (late,) = files(lake, "windows_60", "prod", at(3600), at(7200))
    with lake.filesystem.open_output_stream(late) as file:
        file.write(b"no Parquet")
    assert {row["start"] for row in rows(lake, "billing", until=61 * 60)} == {at(60), at(59 * 60)}


def a_file(folder: Path, name: str, rows: int) -> str:
    pq.write_table(pa.table({"group": ["billing"] * rows}), folder / name)
    return str(folder / name)


def rows_of(footers: Footers, lake: Lake, name: str) -> int:
    with footers.opened(lake, name) as (_, footer):
        return footer.num_rows


def test_a_footer_is_read_once(tmp_path):
    footers, lake, name = Footers(), Lake.at(str(tmp_path)), a_file(tmp_path, "hour.parquet", 3)
    with footers.opened(lake, name) as (_, first), footers.opened(lake, name) as (_, second):
        assert first is second


def test_a_file_in_the_place_of_another_has_its_own_footer(tmp_path):
    footers, lake, name = Footers(), Lake.at(str(tmp_path)), a_file(tmp_path, "hour.parquet", 3)
    assert rows_of(footers, lake, name) == 3
    Path(a_file(tmp_path, "new", 5)).replace(name)
    assert rows_of(footers, lake, name) == 5


def test_no_footer_is_kept_of_a_file_that_is_replaced_while_it_is_opened(tmp_path, monkeypatch):
    footers, lake, name = Footers(), Lake.at(str(tmp_path)), a_file(tmp_path, "hour.parquet", 3)
    times = iter([os.stat(name), os.stat(a_file(tmp_path, "new", 5))])
    monkeypatch.setattr(os, "stat", lambda _: next(times))
    with footers.opened(lake, name) as (_, footer):
        assert footer is None


def test_the_footers_that_were_used_last_are_kept(tmp_path):
    footers, lake = Footers(kept=2), Lake.at(str(tmp_path))
    first, second, third = (a_file(tmp_path, name, 1) for name in ("1", "2", "3"))
    with footers.opened(lake, first) as (_, of_first), footers.opened(lake, second) as (_, of_second):
        rows_of(footers, lake, first)
        rows_of(footers, lake, third)
        with footers.opened(lake, first) as (_, first_again), footers.opened(lake, second) as (_, second_again):
            assert first_again is of_first
            assert second_again is not of_second
