"""Old days of knots become one file each, found from the start of the day."""

from datetime import timedelta

import pytest

from consumers.lake import knot_days
from consumers.lake.reader import files, read
from consumers.lake.retention import expire
from consumers.lake.store import Lake
from tests.pipeline_rows import PLACE, at, put


def knot(seconds, offset):
    place = {name: PLACE[name] for name in ("cluster", "topic", "broker", "queue_id")}
    return {**place, "broker_offset": offset, "at": at(seconds)}


def test_a_settled_day_is_one_file_at_its_first_hour(tmp_path):
    lake = Lake.at(str(tmp_path))
    put(lake, "knots", [knot(60 * n, n) for n in range(120)], time="at")

    assert knot_days.settle(lake, at(0) + timedelta(days=3)) == 1
    assert knot_days.settle(lake, at(0) + timedelta(days=3)) == 0

    (only,) = files(lake, "knots", "prod", knot_days.day_start(at(0)), at(7200))
    assert only.endswith("/hour=00/hour.parquet")
    offsets = read(lake, "knots", "prod", knot_days.day_start(at(0)), at(7200))["broker_offset"].to_pylist()
    assert offsets == [0, *range(9, 120, 10)]


def test_a_young_day_is_left_alone(tmp_path):
    lake = Lake.at(str(tmp_path))
    put(lake, "knots", [knot(0, 1)], time="at")
    assert knot_days.settle(lake, at(0) + timedelta(days=1)) == 0
    assert len(files(lake, "knots", "prod", at(0), at(60))) == 1


@pytest.mark.parametrize(("days", "expected"), [(0, "date=2026-03-01"), (1, "date=2026-03-03"), (3, None)])
def test_the_first_day_is_the_oldest_that_counts(tmp_path, days, expected):
    lake = Lake.at(str(tmp_path))
    put(lake, "knots", [knot(0, 1), knot(2 * 86400, 2)], time="at")
    assert knot_days.first_day(lake, "prod", at(86400 * days)) == expected


@pytest.mark.parametrize(("days", "left"), [(10.9, 48), (11, 24)], ids=["the day is not over for so long", "it is"])
def test_a_settled_day_goes_as_a_whole(tmp_path, days, left):
    lake, midnight = Lake.at(str(tmp_path)), knot_days.day_start(at(0))
    put(lake, "knots", [knot(3600 * n - 7200, n) for n in range(48)], time="at")
    assert knot_days.settle(lake, at(86400 * 4)) == 2
    expire(lake, midnight + timedelta(days=days), {"knots": timedelta(days=10)})
    assert read(lake, "knots", "prod", midnight, midnight + timedelta(days=2)).num_rows == left
