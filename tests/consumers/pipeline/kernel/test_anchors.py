"""What a look-up found holds for as long as the offset stays between the same two knots."""

import pyarrow as pa
import pytest

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.anchors import ANCHORS
from consumers.pipeline.kernel.time_lag import time_lags
from tests.pipeline_rows import PLACE, at, gathered, lags_of, rows, table

HOUR = 3600
NOW = 10 * HOUR
KNOTS = [(0, 100), (HOUR, 200), (NOW - 900, 900), (NOW, 1000)]


def stored(asked: pa.Table) -> pa.Table:
    place = {name: PLACE[name] for name in ("cluster", "topic", "broker", "queue_id")}
    return table("knots", [place | {"broker_offset": offset, "at": at(seconds)} for seconds, offset in KNOTS])


def nothing(asked: pa.Table) -> pa.Table:
    return table("knots", [])


def looked_up(readings, history, anchors):
    """The newest time lag, as kind and seconds, and the anchors that are left."""
    read = gathered(readings)
    found, left = time_lags(read, read.readings.at_us.max(), history, history, Durations(), anchors)
    (queue,) = lags_of(read, found)
    return (queue["lags"][-1]["kind"], queue["lags"][-1]["seconds"]), left


@pytest.fixture
def anchors():
    _, left = looked_up(rows([(150, 1000)] * 4, start=NOW), stored, ANCHORS.empty_table())
    return left


def test_an_offset_that_stands_is_looked_up_once(anchors):
    later = NOW + 30
    answer, left = looked_up(rows([(150, 1010)] * 4, start=later), nothing, anchors)
    assert answer == ("interpolated", later + 45 - HOUR / 2)
    columns = ["left_offset", "right_offset", "seen_offset"]
    assert left.select(columns).to_pylist() == [dict(zip(columns, (100, 200, 1010), strict=True))]


def test_an_offset_that_moves_between_the_same_two_knots_is_not_looked_up(anchors):
    answer, _ = looked_up(rows([(175, 1010)], start=NOW + 60), nothing, anchors)
    assert answer == ("interpolated", NOW + 60 - HOUR * 0.75)


@pytest.mark.parametrize("offset", [99, 200])
def test_an_offset_that_left_them_is_looked_up(anchors, offset):
    answer, left = looked_up(rows([(offset, 1010)], start=NOW + 60), nothing, anchors)
    assert answer == ("unknown", None)
    assert left.num_rows == 0


@pytest.mark.parametrize("ends", [[1010, 300], [300, 310]], ids=["among the readings", "before them"])
def test_a_topic_that_was_created_anew_since_is_looked_up(anchors, ends):
    answer, left = looked_up(rows([(150, end) for end in ends], start=NOW + 60), nothing, anchors)
    assert answer == ("unknown", None)
    assert left.num_rows == 0


def test_another_queue_of_the_topic_has_an_anchor_of_its_own(anchors):
    answer, _ = looked_up(rows([(150, 1010)], start=NOW + 60, group="shipping"), nothing, anchors)
    assert answer == ("unknown", None)


def test_a_message_that_was_stored_after_the_last_knot_leaves_none():
    answer, left = looked_up(rows([(1000, 1400)], start=NOW + HOUR), stored, ANCHORS.empty_table())
    assert answer == ("interpolated", float(HOUR))
    assert left.num_rows == 0


def test_a_reading_of_before_the_anchors_knots_does_not_use_it(anchors):
    """A range may be run again."""
    answer, _ = looked_up(rows([(150, 190)], start=HOUR // 2), nothing, anchors)
    assert answer == ("unknown", None)
