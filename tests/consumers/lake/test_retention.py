"""History goes when it is older than it is kept for, hour by hour."""

from datetime import timedelta

import pytest

from consumers.lake.reader import files
from consumers.lake.retention import expire
from consumers.lake.store import Lake
from tests.pipeline_rows import PLACE, at, put, rows

HOUR = timedelta(hours=1)


@pytest.fixture
def lake(tmp_path):
    lake = Lake.at(str(tmp_path))
    put(lake, "readings", rows([(1, 1)] * 50, every=3600))
    return lake


@pytest.mark.parametrize(
    ("now", "left"),
    [(48, 50), (49, 49), (49.9, 49), (60, 38), (98, 0)],
    ids=["all are young", "one hour has ended", "not the next", "half a day", "all"],
)
def test_it_deletes_hours_that_ended_too_long_ago(lake, now, left):
    expire(lake, at(0) + now * HOUR, {"readings": 48 * HOUR})
    assert len(files(lake, "readings", "prod", at(0), at(60 * 3600))) == left


def test_a_table_without_a_limit_is_kept(lake):
    assert expire(lake, at(0) + 1000 * HOUR, {"knots": HOUR}) == 0
    assert len(files(lake, "readings", "prod", at(0), at(60 * 3600))) == 50


@pytest.mark.parametrize(
    ("table", "days", "left"),
    [("windows_3600", 10.9, 2), ("windows_3600", 11, 1), ("windows_86400", 40.9, 2), ("windows_86400", 41, 1)],
    ids=["the day is not over for so long", "it is", "the month is not over for so long", "it is "],
)
def test_hours_go_by_the_day_and_days_by_the_month(tmp_path, table, days, left):
    lake, midnight = Lake.at(str(tmp_path)), at(-2 * 3600)
    for start in (midnight, midnight + timedelta(days=31)):
        put(lake, table, [PLACE | {"start": start, "step_seconds": 3600, "kind": "normal"}], time="start")
    expire(lake, midnight + timedelta(days=days), {table: timedelta(days=10)})
    assert len(files(lake, table, "prod", midnight, midnight + timedelta(days=60))) == left
