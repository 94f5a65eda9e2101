"""Near history first, all of it for queues that reach further back, and never a number where there is no history."""

import pyarrow as pa
import pytest

from consumers.lake import knot_days
from consumers.lake.schemas import TABLES
from consumers.lake.store import Lake
from consumers.pipeline.bucket import Course, history
from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.anchors import ANCHORS
from consumers.pipeline.kernel.time_lag import History, time_lags
from consumers.pipeline.rows import Rows, Span
from tests.pipeline_rows import PLACE, at, gathered, lags_of, put, rows, us
from tests.pipeline_work import a_work

HOUR, DAY = 3600, 86400


def knot(seconds, offset, queue_id=0):
    place = {name: PLACE[name] for name in ("cluster", "topic", "broker")}
    return {**place, "queue_id": queue_id, "broker_offset": offset, "at": at(seconds)}


def found(tmp_path, knots, readings, until, settled=False):
    lake = Lake.at(str(tmp_path))
    put(lake, "knots", knots, time="at")
    if settled:
        knot_days.settle(lake, at(until))
    read, work = gathered(readings), a_work(lake, at(until - 1), at(until))
    return lags_of(read, Course.of(read, Rows(lake, ["prod"], Span()), work).lags)


def lags(tmp_path, knots, readings, until, settled=False):
    answer = found(tmp_path, knots, readings, until, settled)
    return {row["queue_id"]: [(lag["kind"], lag["seconds"]) for lag in row["lags"]] for row in answer}


def errors(tmp_path, knots, readings, until):
    (row,) = found(tmp_path, knots, readings, until)
    return [(lag["kind"], lag["error_seconds"]) for lag in row["lags"]]


def test_it_finds_near_and_far_ones_in_one_answer(tmp_path):
    now = 10 * HOUR
    knots = [knot(0, 100), knot(HOUR, 200), knot(now - 300, 900), knot(now, 1000)]
    knots += [knot(now - 600, 50, 1), knot(now, 150, 1)]
    readings = rows([(150, 1000)], start=now) + rows([(100, 150)], start=now, queue_id=1)
    readings += rows([(7, 7)], start=now, queue_id=2)
    assert lags(tmp_path, knots, readings, now + 1) == {
        0: [("interpolated", now - HOUR / 2)],
        1: [("interpolated", 300.0)],
        2: [],
    }


def test_a_settled_day_still_answers(tmp_path):
    now = 3 * DAY
    knots = [knot(0, 100), knot(HOUR, 200), knot(now, 1000)]
    answer = lags(tmp_path, knots, rows([(150, 1000)], start=now), now + 1, settled=True)
    assert answer == {0: [("interpolated", now - HOUR / 2)]}


@pytest.mark.parametrize("settled", [False, True])
def test_a_queue_that_moved_on_is_found_from_its_anchor(tmp_path, settled):
    now = 3 * DAY
    knots = [knot(HOUR * n, 100 * n) for n in range(72)]
    lake = Lake.at(str(tmp_path))
    put(lake, "knots", knots, time="at")
    if settled:
        knot_days.settle(lake, at(now))
    seen = {"seen_at": us(now - 60), "seen_offset": 7100}
    kept = [{"at": us(hour * HOUR), "broker_offset": 100 * hour} for hour in (4, 5)]
    anchors = pa.Table.from_pylist([{**PLACE, "knots": kept, "is_oldest": False, **seen}], ANCHORS)
    read, work = gathered(rows([(500, 7200)], start=now)), a_work(lake, at(now), at(now + 1))
    within = history(Rows(lake, ["prod"], Span()), work, TABLES["knots"].empty_table()).within
    found, left = time_lags(read, 0, History([nothing], nothing, within), Durations(), anchors)
    (queue,) = lags_of(read, found)
    assert queue["lags"][0]["seconds"] == now - 5 * HOUR
    assert [one["broker_offset"] for one in left["knots"][0].as_py()] == [500, 600]


def nothing(asked):
    return TABLES["knots"].empty_table()


def test_older_than_all_history_is_at_least_its_age(tmp_path):
    now = 5 * HOUR
    answer = lags(tmp_path, [knot(0, 100), knot(now, 900)], rows([(50, 900)], start=now), now + 1)
    assert answer == {0: [("at_least", float(now))]}


@pytest.mark.parametrize(("oldest", "times"), [(0, 3), (4 * HOUR, 2)])
def test_older_history_is_looked_through_only_where_there_is_some(tmp_path, monkeypatch, oldest, times):
    looked_through, table = [], Rows.table
    monkeypatch.setattr(Rows, "table", lambda *named, **more: looked_through.append(named[1]) or table(*named, **more))
    now = 5 * HOUR
    answer = lags(tmp_path, [knot(oldest, 100), knot(now, 900)], rows([(50, 900)], start=now), now + 1)
    assert answer == {0: [("at_least", float(now - oldest))]}
    assert looked_through.count("knots") == times


def test_without_history_it_is_unknown(tmp_path):
    assert lags(tmp_path, [], rows([(50, 900)], start=60), 61) == {0: [("unknown", None)]}


def test_a_topic_created_anew_forgets_what_was_before(tmp_path):
    knots = [knot(0, 100), knot(60, 900), knot(120, 10), knot(180, 40)]
    answer = lags(tmp_path, knots, rows([(25, 40)], start=180), 181)
    assert answer == {0: [("interpolated", 30.0)]}


@pytest.mark.parametrize(
    ("stored", "expected", "why"),
    [
        (47.5, ("exact", 132.5), "the broker was asked"),
        (180, ("interpolated", 120.0), "stored at the moment of the reading: two clocks"),
        (181, ("interpolated", 120.0), "stored later than it was read: two clocks"),
        (None, ("interpolated", 120.0), "nobody asked"),
    ],
)
def test_a_store_time_makes_it_exact(tmp_path, stored, expected, why):
    knots = [knot(0, 100), knot(120, 220), knot(180, 300)]
    first = None if stored is None else at(stored)
    readings = rows([(160, 300)], start=180, first_stored_at=first)
    assert lags(tmp_path, knots, readings, 181) == {0: [expected]}, why


def test_it_is_exact_without_any_history(tmp_path):
    readings = rows([(50, 900)], start=60, first_stored_at=at(10))
    assert lags(tmp_path, [], readings, 61) == {0: [("exact", 50.0)]}


def test_earlier_readings_of_a_queue_that_was_asked_late_are_looked_up_as_ever(tmp_path):
    now = 10 * HOUR
    knots = [knot(0, 100), knot(HOUR, 200), knot(now - 60, 1000)]
    readings = rows([(150, 1000)], start=now - 30) + rows([(150, 1000)], start=now, first_stored_at=at(2000))
    answer = lags(tmp_path, knots, readings, now + 1)
    assert answer == {0: [("interpolated", now - 30 - HOUR / 2), ("exact", now - 2000.0)]}


def test_the_error_of_an_exact_one_is_that_of_the_clocks(tmp_path):
    readings = rows([(50, 900)], start=60, first_stored_at=at(10)) + rows([(50, 900)], start=75)
    knots = [knot(0, 0), knot(30, 900)]
    assert errors(tmp_path, knots, readings, 76) == [("exact", 1.0), ("interpolated", 30.0 + 5.0)]
