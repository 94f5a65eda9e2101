"""History goes when it is older than it is kept for, hour by hour."""

from datetime import timedelta

import pytest

from consumers.lake.reader import files
from consumers.lake.retention import expire
from consumers.lake.store import Lake
from tests.pipeline_rows import at, put, rows

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
