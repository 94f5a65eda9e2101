"""Windows show what was read in them, and nothing that was not."""

import pyarrow as pa
import pytest

from consumers.pipeline.durations import Durations
from consumers.pipeline.known import HANDS
from consumers.pipeline.queue_arrays import queue_arrays, with_hands
from consumers.pipeline.rollup import rolled_up
from consumers.pipeline.time_lag import without_time_lags
from consumers.pipeline.windows import queue_windows
from tests.pipeline_rows import PLACE, at, frame, rows, us

pytestmark = pytest.mark.spark


def windows(spark, readings, since=60, until=180):
    arrays = without_time_lags(queue_arrays(frame(spark, "readings", readings)))
    found = queue_windows(arrays, us(since), us(until), Durations()).toArrow().sort_by("start")
    return found.to_pylist()


def of(found, *names):
    return [tuple(row[name] for name in names) for row in found]


def test_it_has_the_lag_of_the_last_reading_and_the_rates_since_the_reading_before(spark):
    readings = rows([(10 * n, 20 * n) for n in range(12)])
    assert of(windows(spark, readings), "start", "lag_messages", "consume_rate", "produce_rate", "readings") == [
        (at(60), 70, pytest.approx(10 / 15), pytest.approx(20 / 15), 4),
        (at(120), 110, pytest.approx(10 / 15), pytest.approx(20 / 15), 4),
    ]


def test_a_minute_without_readings_has_no_row(spark):
    assert of(windows(spark, rows([(1, 1)], start=130)), "start") == [(at(120),)]


def test_an_offset_that_went_back_has_no_rate(spark):
    readings = rows([(50, 60), (60, 70), (20, 80)], start=45)
    assert of(windows(spark, readings), "consume_rate", "produce_rate") == [(None, pytest.approx(20 / 30))]


def test_an_offset_that_was_set_by_hand_has_no_rate_and_no_volume_in_that_minute(spark):
    readings = rows([(10 * n, 20 * n) for n in range(12)])
    spans = [{**PLACE, "hands": [{"from_us": us(70), "to_us": us(80)}]}]
    hands = spark.createDataFrame(pa.Table.from_pylist(spans, HANDS))
    arrays = with_hands(without_time_lags(queue_arrays(frame(spark, "readings", readings))), hands)
    found = queue_windows(arrays, us(60), us(180), Durations()).toArrow().sort_by("start").to_pylist()
    assert of(found, "consume_rate", "consumed", "volume_unknown") == [
        (None, None, "the consumer offset was set by a reset"),
        (pytest.approx(10 / 15), 40, None),
    ]


def test_a_rate_does_not_reach_over_a_gap(spark):
    assert of(windows(spark, rows([(1, 1)], start=0) + rows([(9, 9)], start=70)), "consume_rate") == [(None,)]


def test_an_unknown_lag_is_null_with_its_reason(spark):
    readings = rows([(None, 9)], start=60, unknown_reason="never committed")
    assert of(windows(spark, readings), "lag_messages", "time_lag_seconds", "time_lag_kind", "unknown_reason") == [
        (None, None, "unknown", "never committed")
    ]


def test_dead_letters_have_no_windows(spark):
    assert windows(spark, rows([(1, 1)], start=60, kind="dlq")) == []


def test_ten_minutes_have_the_last_minutes_lag_and_a_rate_only_where_every_minute_has_one(spark):
    readings = rows([(10 * n, 20 * n) for n in range(12)])
    minutes = frame(spark, "windows_60", windows(spark, readings))
    (wide,) = rolled_up(minutes, 600).toArrow().to_pylist()
    assert (wide["start"], wide["lag_messages"], wide["readings"]) == (at(0), 110, 8)
    assert wide["consume_rate"] == pytest.approx(10 / 15)


def test_one_unknown_rate_makes_ten_minutes_unknown(spark):
    readings = rows([(10, 10), (20, 20), (5, 30), (15, 40), (25, 50), (35, 60), (45, 70), (55, 80)], start=60)
    (wide,) = rolled_up(frame(spark, "windows_60", windows(spark, readings)), 600).toArrow().to_pylist()
    assert (wide["consume_rate"], wide["produce_rate"]) == (None, pytest.approx(10 / 15))
