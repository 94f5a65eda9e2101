"""Windows show what was read in them, and nothing that was not."""

import numpy as np
import pyarrow as pa
import pytest

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.evidence import HANDS
from consumers.pipeline.kernel.group_windows import wide_windows
from consumers.pipeline.kernel.readings import Hands, no_hands
from consumers.pipeline.kernel.time_lag import TimeLags
from consumers.pipeline.kernel.windows import minute_windows, queue_windows
from consumers.pipeline.volumes import APPEARED
from tests.pipeline_rows import at, gathered, rows, table, us


def windows(readings, since=60, until=180, hands=None):
    found = gathered(readings).only(np.array([True]))
    spans = hands or no_hands()
    minutes = minute_windows(found, spans, APPEARED.empty_table(), us(since), us(until), Durations())
    return queue_windows(found, TimeLags.none(1), minutes).sort_by("start").to_pylist()


def of(found, *names):
    return [tuple(row[name] for name in names) for row in found]


def test_it_has_the_lag_of_the_last_reading_and_the_rates_since_the_reading_before():
    readings = rows([(10 * n, 20 * n) for n in range(12)])
    assert of(windows(readings), "start", "lag_messages", "consume_rate", "produce_rate", "readings") == [
        (at(60), 70, pytest.approx(10 / 15), pytest.approx(20 / 15), 4),
        (at(120), 110, pytest.approx(10 / 15), pytest.approx(20 / 15), 4),
    ]


def test_a_minute_without_readings_has_no_row():
    assert of(windows(rows([(1, 1)], start=130)), "start") == [(at(120),)]


def test_an_offset_that_went_back_has_no_rate():
    readings = rows([(50, 60), (60, 70), (20, 80)], start=45)
    assert of(windows(readings), "consume_rate", "produce_rate") == [(None, pytest.approx(20 / 30))]


def test_an_offset_that_was_set_by_hand_has_no_rate_and_no_volume_in_that_minute():
    readings = rows([(10 * n, 20 * n) for n in range(12)])
    spans = pa.array([[{"from_us": us(70), "to_us": us(80)}]], pa.list_(HANDS))
    found = windows(readings, hands=Hands.of(spans))
    assert of(found, "consume_rate", "consumed", "volume_unknown") == [
        (None, None, "set_by_reset"),
        (pytest.approx(10 / 15), 40, None),
    ]


def test_a_rate_does_not_reach_over_a_gap():
    assert of(windows(rows([(1, 1)], start=0) + rows([(9, 9)], start=70)), "consume_rate") == [(None,)]


def test_an_unknown_lag_is_null_with_its_reason():
    readings = rows([(None, 9)], start=60, unknown_reason="never_committed")
    assert of(windows(readings), "lag_messages", "time_lag_seconds", "time_lag_kind", "unknown_reason") == [
        (None, None, "unknown", "never_committed")
    ]


def test_ten_minutes_have_the_last_minutes_lag_and_a_rate_only_where_every_minute_has_one():
    readings = rows([(10 * n, 20 * n) for n in range(12)])
    (wide,) = wide_windows(table("windows_60", windows(readings)), 600).to_pylist()
    assert (wide["start"], wide["lag_messages"], wide["readings"]) == (at(0), 110, 8)
    assert wide["consume_rate"] == pytest.approx(10 / 15)


def test_one_unknown_rate_makes_ten_minutes_unknown():
    readings = rows([(10, 10), (20, 20), (5, 30), (15, 40), (25, 50), (35, 60), (45, 70), (55, 80)], start=60)
    (wide,) = wide_windows(table("windows_60", windows(readings)), 600).to_pylist()
    assert (wide["consume_rate"], wide["produce_rate"]) == (None, pytest.approx(10 / 15))
