"""A time lag that a queue's own readings reach is read from them: no stored history is opened for it."""

import pyarrow as pa
import pytest

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.anchors import ANCHORS
from consumers.pipeline.kernel.time_lag import time_lags
from tests.pipeline_rows import at, gathered, lags_of, rows, stored_history, table

DURATIONS = Durations()


def nothing_stored(asked: pa.Table) -> pa.Table:
    return table("knots", [])


def must_not_be_asked(asked: pa.Table) -> pa.Table:
    raise AssertionError(f"Stored knots were asked for {asked.to_pylist()}.")


def newest(readings, near=nothing_stored):
    read = gathered(readings)
    since_us = read.readings.at_us.max()
    (found,) = lags_of(read, time_lags(read, since_us, stored_history(near), DURATIONS, ANCHORS.empty_table())[0])
    return found["lags"][-1]["kind"], found["lags"][-1]["seconds"]


def test_it_is_interpolated_between_two_readings():
    course = rows([(0, 100), (0, 200), (150, 300), (150, 400)])
    assert newest(course, must_not_be_asked) == ("interpolated", 15 + 15 + 7.5)


def test_a_flat_run_counts_from_its_right_end():
    course = rows([(0, 100), (0, 100), (100, 100), (100, 160)])
    assert newest(course, must_not_be_asked) == ("interpolated", 15.0)


def test_readings_of_an_earlier_life_of_the_topic_do_not_count():
    course = rows([(0, 100), (100, 900), (0, 10), (5, 40)])
    assert newest(course) == ("unknown", None)


def test_what_lies_before_the_first_reading_is_looked_up():
    asked = []
    assert newest(rows([(50, 100), (50, 200)]), lambda queues: asked.append(queues) or nothing_stored(queues)) == (
        "unknown",
        None,
    )
    assert len(asked) == 2


@pytest.mark.parametrize(("seconds_before", "expected"), [(0, "interpolated"), (61, "unknown")])
def test_readings_from_before_the_lookback_of_the_minute_do_not_count(seconds_before, expected):
    """However much earlier the slice of a run began, a minute's time lags are the same."""
    first = 3600 - DURATIONS.lookback_seconds - seconds_before
    course = rows([(0, 100)], start=first) + rows([(0, 200)], start=first + 1) + rows([(110, 300)], start=3600)
    course = [*course[:2], {**course[2], "consumer_offset": 110, "taken_at": at(3600)}]
    assert newest(course)[0] == expected
