"""A window is replaced whole, also inside an hour that is one file already."""

from datetime import timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from consumers.lake import retention
from consumers.lake.reader import files, read
from consumers.lake.schemas import KNOTS, WINDOWS
from consumers.lake.store import Lake, hour_folder
from consumers.lake.windows import put_window
from tests.pipeline_rows import PLACE, at


def window(minute, lag):
    row = {**PLACE, "start": at(60 * minute), "step_seconds": 60, "kind": "normal", "lag_messages": lag, "readings": 4}
    return pa.Table.from_pylist([row], WINDOWS)


@pytest.fixture
def lake(place):
    lake = Lake.at(place)
    for minute in (0, 1):
        put_window(lake, "windows_60", "prod", at(60 * minute), window(minute, 5))
    return lake


def lags(lake):
    found = read(lake, "windows_60", "prod", at(0), at(3600)).sort_by("start")
    return found["lag_messages"].to_pylist()


def test_the_same_window_again_replaces_its_file(lake):
    put_window(lake, "windows_60", "prod", at(60), window(1, 7))
    assert lags(lake) == [5, 7]
    assert len(files(lake, "windows_60", "prod", at(0), at(120))) == 2


def test_it_is_replaced_inside_a_compacted_hour(lake):
    retention.compact(lake, at(7200), timedelta(0))
    put_window(lake, "windows_60", "prod", at(60), window(1, 7))
    assert lags(lake) == [5, 7]
    assert len(files(lake, "windows_60", "prod", at(0), at(60))) == 1


def test_parts_that_a_killed_compaction_left_are_known_after_a_window_was_replaced(lake):
    parts = files(lake, "windows_60", "prod", at(0), at(3600))
    retention.write_hour(lake, "windows_60", "windows_60/cluster=prod/date=2026-03-01/hour=02", parts)
    put_window(lake, "windows_60", "prod", at(60), window(1, 7))
    assert retention.compact(lake, at(7200), timedelta(0)) == 1
    assert lags(lake) == [5, 7]


def test_knots_of_a_minute_stand_by_their_topic(place):
    lake = Lake.at(place)
    places = [("b", 0), ("a", 1), ("c", 0), ("a", 0)]
    rows = [
        {"cluster": "prod", "topic": topic, "broker": "broker-a", "queue_id": number, "broker_offset": 5, "at": at(0)}
        for topic, number in places
    ]
    put_window(lake, "knots", "prod", at(0), pa.Table.from_pylist(rows, KNOTS))
    found = read(lake, "knots", "prod", at(0), at(60))
    assert list(zip(found["topic"].to_pylist(), found["queue_id"].to_pylist(), strict=True)) == sorted(places)


def test_a_part_is_packed_as_unpacks_fastest_and_an_hour_that_is_kept_tightly(lake):
    def packed():
        (name, *_) = files(lake, "windows_60", "prod", at(0), at(3600))
        return pq.read_metadata(name, filesystem=lake.filesystem).row_group(0).column(0).compression

    parts = packed()
    retention.compact_hour(lake, "windows_60", hour_folder("windows_60", "prod", at(0)))
    assert (parts, packed()) == ("LZ4", "ZSTD")


def test_a_part_of_many_rows_has_few_pieces(lake):
    row = {**PLACE, "start": at(0), "step_seconds": 60, "kind": "normal", "readings": 4}
    many = pa.Table.from_pylist([{**row, "queue_id": number} for number in range(1_000)] * 640, WINDOWS)
    put_window(lake, "windows_60", "prod", at(0), many)
    name, _ = files(lake, "windows_60", "prod", at(0), at(120))
    assert pq.read_metadata(name, filesystem=lake.filesystem).num_row_groups == 80
