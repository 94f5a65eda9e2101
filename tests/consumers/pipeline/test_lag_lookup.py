"""Near history first, all of it for queues that reach further back, and never a number where there is no history."""

import pytest

from consumers.lake import knot_days
from consumers.lake.store import Lake
from consumers.pipeline.durations import Durations
from consumers.pipeline.frames import Frames
from consumers.pipeline.lag_lookup import looked_up
from consumers.pipeline.queue_arrays import queue_arrays
from consumers.pipeline.time_lag import with_points
from tests.pipeline_rows import PLACE, at, frame, put, rows

pytestmark = pytest.mark.spark

HOUR, DAY = 3600, 86400


def knot(seconds, offset, queue_id=0):
    place = {name: PLACE[name] for name in ("cluster", "topic", "broker")}
    return {**place, "queue_id": queue_id, "broker_offset": offset, "at": at(seconds)}


def lags(spark, tmp_path, knots, readings, until, settled=False):
    lake = Lake.at(str(tmp_path))
    put(lake, "knots", knots, time="at")
    if settled:
        knot_days.settle(lake, at(until))
    arrays = with_points(queue_arrays(frame(spark, "readings", readings)), 0).persist()
    found = looked_up(arrays, Frames(spark, lake, ["prod"]), at(until), Durations()).toArrow().to_pylist()
    return {row["queue_id"]: [(lag["kind"], lag["seconds"]) for lag in row["lags"]] for row in found}


def test_it_finds_near_and_far_ones_in_one_answer(spark, tmp_path):
    now = 10 * HOUR
    knots = [knot(0, 100), knot(HOUR, 200), knot(now - 300, 900), knot(now, 1000)]
    knots += [knot(now - 600, 50, 1), knot(now, 150, 1)]
    readings = rows([(150, 1000)], start=now) + rows([(100, 150)], start=now, queue_id=1)
    readings += rows([(7, 7)], start=now, queue_id=2)
    assert lags(spark, tmp_path, knots, readings, now + 1) == {
        0: [("interpolated", now - HOUR / 2)],
        1: [("interpolated", 300.0)],
        2: [],
    }


def test_a_settled_day_still_answers(spark, tmp_path):
    now = 3 * DAY
    knots = [knot(0, 100), knot(HOUR, 200), knot(now, 1000)]
    answer = lags(spark, tmp_path, knots, rows([(150, 1000)], start=now), now + 1, settled=True)
    assert answer == {0: [("interpolated", now - HOUR / 2)]}


def test_older_than_all_history_is_at_least_its_age(spark, tmp_path):
    now = 5 * HOUR
    answer = lags(spark, tmp_path, [knot(0, 100), knot(now, 900)], rows([(50, 900)], start=now), now + 1)
    assert answer == {0: [("at_least", float(now))]}


def test_without_history_it_is_unknown(spark, tmp_path):
    assert lags(spark, tmp_path, [], rows([(50, 900)], start=60), 61) == {0: [("unknown", None)]}


def test_a_topic_created_anew_forgets_what_was_before(spark, tmp_path):
    knots = [knot(0, 100), knot(60, 900), knot(120, 10), knot(180, 40)]
    answer = lags(spark, tmp_path, knots, rows([(25, 40)], start=180), 181)
    assert answer == {0: [("interpolated", 30.0)]}
