"""Which anchors a worker keeps from run to run: one below all history, as long as history begins where it did."""

import pyarrow as pa
import pytest

from consumers.lake.store import Lake
from consumers.pipeline.job import Anchors
from consumers.pipeline.kernel.anchors import ANCHORS
from tests.pipeline_rows import PLACE, at, put

DAY = 86400


def knot(seconds):
    place = {name: PLACE[name] for name in ("cluster", "topic", "broker", "queue_id")}
    return {**place, "broker_offset": 1, "at": at(seconds)}


@pytest.fixture
def lake(tmp_path):
    lake = Lake.at(str(tmp_path))
    put(lake, "knots", [knot(0)], time="at")
    return lake


@pytest.fixture
def kept(lake):
    found = Anchors()
    found.at(lake, ["prod"], at(DAY))
    seen = {"knots": [{"at": 1, "broker_offset": 1}], "seen_at": 3, "seen_offset": 3}
    found.table = pa.Table.from_pylist(
        [{**PLACE, "queue_id": n, "is_oldest": is_oldest, **seen} for n, is_oldest in enumerate([True, False])], ANCHORS
    )
    return found


def queues(anchors):
    return anchors["queue_id"].to_pylist()


def test_all_are_kept_while_history_begins_where_it_did(lake, kept):
    put(lake, "knots", [knot(DAY)], time="at")
    assert queues(kept.at(lake, ["prod"], at(2 * DAY))) == [0, 1]


def test_older_history_that_is_made_anew_is_looked_through(lake, kept):
    put(lake, "knots", [knot(-DAY)], time="at")
    assert queues(kept.at(lake, ["prod"], at(DAY))) == [1]


def test_what_is_too_old_to_be_looked_through_is_no_bound(lake, kept):
    assert queues(kept.at(lake, ["prod"], at(31 * DAY))) == [1]
