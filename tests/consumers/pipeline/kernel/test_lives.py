"""A topic that was seen gone and comes back is another topic, also where its offsets are further than before."""

import numpy as np
import pyarrow as pa
import pytest

from consumers.lake.knot_days import thin
from consumers.lake.schemas import KNOTS, NO_TOPIC
from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.anchors import ANCHORS, new_knots
from consumers.pipeline.kernel.falls import offset_falls
from consumers.pipeline.kernel.numbers import Seen, window_numbers
from consumers.pipeline.kernel.readings import Lives, no_hands
from consumers.pipeline.kernel.time_lag import TimeLags, time_lags
from consumers.pipeline.kernel.windows import minute_windows, queue_windows
from consumers.pipeline.volumes import APPEARED
from consumers.vocabulary.states import UnknownReason
from tests.pipeline_rows import PLACE, at, gathered, lags_of, rows, stored_history, table, us

HOUR = 3600
GONE = {"unknown_reason": UnknownReason.TOPIC_GONE}


def recreated(before, after, *, offset=None, start=0.0, between=1, **fields):
    """Readings of the topic, of its absence, and of the topic that came after it, 15 s apart. `offset`: what the group
    had committed when the topic was gone."""
    last = before[-1][0] if before else offset
    gone = rows([(last, None)] * between, start=start + 15 * len(before), **GONE, **fields)
    later = rows(after, start=start + 15 * (len(before) + between), **fields)
    return [*rows(before, start=start, **fields), *gone, *later]


def begun(readings):
    """How many seconds after the start the newest life began."""
    read = gathered(readings).readings
    (row,) = Lives.of(read).began
    return None if row < 0 else (read.at_us[row] - us(0)) / 1e6


@pytest.mark.parametrize(
    ("readings", "expected", "why"),
    [
        (recreated([(4, 10)], [(4, 90), (4, 95)]), 30.0, "offsets are further"),
        (recreated([(4, 10)], [(4, 10)]), 30.0, "offsets are the same"),
        (recreated([], [(4, 10)], offset=4), 15.0, "the topic before was not read lately"),
        (recreated([(4, 10)], []), None, "it has not come back"),
        (rows([(4, 10)]) + rows([(4, None)], start=15) + rows([(4, 90)], start=30), None, "it was not read"),
        (
            rows([(4, 10)])
            + rows([(4, None)], start=15, unknown_reason=UnknownReason.QUEUE_GONE)
            + rows([(4, 90)], start=30),
            None,
            "a queue that is closed keeps its messages",
        ),
        (rows([(4, 10), (4, 90), (4, 5)]), 30.0, "it went back"),
    ],
)
def test_another_life_begins_where_the_topic_was_gone_or_went_back(readings, expected, why):
    assert begun(readings) == expected, why


def test_a_queue_that_was_gone_says_nothing_of_the_next_one():
    read = gathered(recreated([(4, 10)], [], queue_id=0) + rows([(4, 10), (4, 90)], queue_id=1)).readings
    assert Lives.of(read).began.tolist() == [-1, -1]


# Time lag.


def lag(readings, stored=(), anchors=None):
    """The newest time lag, as kind and seconds, by what the readings and `stored` knots say; and the anchors left."""
    read = gathered(readings)
    fresh = new_knots(read, us(0), us(24 * HOUR)).drop_columns(["minute"]).cast(KNOTS)
    place = {name: PLACE[name] for name in ("cluster", "topic", "broker", "queue_id")}
    older = table("knots", [place | {"broker_offset": offset, "at": at(seconds)} for seconds, offset in stored])
    history = stored_history(lambda asked: pa.concat_tables([older, fresh]))
    known = ANCHORS.empty_table() if anchors is None else anchors
    found, left = time_lags(read, read.readings.at_us.max(), history, Durations(), known)
    (newest,) = (one for queue in lags_of(read, found) for one in queue["lags"][-1:])
    return (newest["kind"], newest["seconds"]), left


def test_readings_of_the_topic_before_do_not_date_a_message():
    assert lag(recreated([(4, 10), (4, 60)], [(50, 90), (50, 95)]))[0] == ("at_least", 15.0)


def test_stored_knots_of_the_topic_before_do_not_date_a_message():
    readings = recreated([], [(50, 90), (50, 95)], offset=50, start=9 * HOUR)
    assert lag(readings, [(0, 10), (HOUR, 80)])[0] == ("at_least", 15.0)


def test_a_message_of_the_topic_that_came_after_is_dated_by_its_own_knots():
    readings = recreated([(4, 10), (4, 60)], [(80, 80), (80, 90), (85, 95)])
    assert lag(readings)[0] == ("interpolated", 22.5)


def test_knots_remember_that_the_topic_was_gone_when_no_reading_does():
    gone = [(0, 10), (HOUR, 80), (2 * HOUR, NO_TOPIC), (2 * HOUR, 90), (3 * HOUR, 200)]
    assert lag(rows([(50, 200)], start=4 * HOUR), gone)[0] == ("at_least", 2.0 * HOUR)


def test_an_anchor_of_the_topic_before_does_not_hold():
    stored = [(0, 10), (HOUR, 80), (2 * HOUR, 100)]
    (kind, _), anchors = lag(rows([(50, 100)] * 2, start=3 * HOUR), stored)
    assert (kind, anchors.num_rows) == ("interpolated", 1)
    answer, _ = lag(recreated([], [(50, 900)], offset=50, start=3 * HOUR + 30), (), anchors)
    assert answer[0] != "interpolated"


def test_an_anchor_that_the_topic_before_left_is_not_kept():
    readings = rows([(50, 100)] * 2, start=3 * HOUR)
    read = gathered(readings + recreated([], [(900, 900)], offset=50, start=3 * HOUR + 30))
    older = table("knots", [_knot(0, 10), _knot(HOUR, 80), _knot(2 * HOUR, 100)])
    _, left = time_lags(read, us(0), stored_history(lambda asked: older), Durations(), ANCHORS.empty_table())
    assert left.num_rows == 0


def _knot(seconds, offset):
    return {name: PLACE[name] for name in ("cluster", "topic", "broker", "queue_id")} | {
        "broker_offset": offset,
        "at": at(seconds),
    }


# Knots.


def knots(readings, since=0.0, until=600.0):
    found = new_knots(gathered(readings), us(since), us(until)).to_pylist()
    return sorted({((row["at"] - at(0)).total_seconds(), row["broker_offset"]) for row in found})


def test_a_knot_says_that_the_topic_was_gone_before_the_next_one():
    assert knots(recreated([(0, 5)], [(0, 9)])) == [(0, 5), (30, NO_TOPIC), (30, 9)]


def test_a_topic_that_came_back_with_the_same_offset_has_its_knots():
    assert knots(recreated([(0, 5), (0, 5)], [(0, 5)]), since=40) == [(15, 5), (45, NO_TOPIC), (45, 5)]


def test_a_group_that_came_later_does_not_hide_that_the_topic_was_gone():
    newcomer = rows([(0, 9), (0, 12)], start=30, group="shipping")
    assert (30, NO_TOPIC) in knots(recreated([], [(0, 9)], offset=0, start=15) + newcomer)


def test_thinned_knots_still_say_it():
    seen = [_knot(0, 10), _knot(60, 80), _knot(61, NO_TOPIC), _knot(61, 90), _knot(62, 95)]
    thinned = thin(table("knots", seen), (at(HOUR) - at(0)))
    assert NO_TOPIC in thinned["broker_offset"].to_pylist()


# Volumes and rates of a minute.


def window(readings):
    read = gathered(readings)
    minutes = minute_windows(read, no_hands(), APPEARED.empty_table(), us(420), us(480), Durations())
    (row,) = queue_windows(read, TimeLags.none(read.queues.num_rows), minutes).to_pylist()
    return row


VOLUMES = {
    "gone and back within the minute": (
        recreated([(4, 10)], [(9, 90)], start=405),
        (None, None, "topic_recreated"),
    ),
    "gone and back, and read in between": (
        recreated([(4, 10), (4, 12)], [(4, 90)], start=405),
        (0, None, "topic_recreated"),
    ),
    "gone before the minute": (recreated([], [(4, 9)], offset=4, start=405), (0, 9, None)),
    "gone before the minute, and consumed": (
        recreated([], [(7, 9)], offset=4, start=405),
        (None, 9, "topic_recreated"),
    ),
    "back, gone and back again": (
        recreated([], [(4, 6)], offset=4, start=405) + recreated([], [(4, 9)], offset=4, start=435),
        (0, None, "topic_recreated"),
    ),
    "consumed of the topic that came after": (
        recreated([(4, 10)], [(4, 20)], start=360) + rows([(4, 20), (15, 30)], start=405),
        (11, 10, None),
    ),
}


@pytest.mark.parametrize("case", VOLUMES)
def test_volumes_are_not_continued_from_one_topic_to_the_next(case):
    readings, expected = VOLUMES[case]
    found = window(readings)
    assert (found["consumed"], found["produced"], found["volume_unknown"]) == expected


def test_rates_are_not_continued_from_one_topic_to_the_next():
    found = window(recreated([(4, 10)], [(9, 90)], start=405))
    assert (found["consume_rate"], found["produce_rate"]) == (None, None)


# What rules look at.


def queue_numbers(readings, until, lags=None):
    read = gathered(readings)
    named = {"empty_since_us": pa.nulls(1, pa.int64()), "allowance_seconds": pa.array([60.0])}
    table = pa.table({name: read.queues[name] for name in ("cluster", "group")} | named)
    seen = Seen(read.readings, lags or TimeLags.none(1), no_hands())
    found = window_numbers(table, seen, us(until), Durations())
    return {name: pa.array(column).to_pylist()[0] for name, column in found.items()}


def test_what_is_read_of_the_topic_before_is_no_evidence():
    found = queue_numbers(recreated([(0, 10), (2, 20), (9, 30)], [(9, 90), (9, 95)]), 75)
    assert (found["recreated_us"], found["recreated_offset"]) == (us(60), 90)
    assert (found["readings_of_topic"], found["moves"], found["has_moved"]) == (2, 0, False)


def test_polls_of_the_topic_that_came_after_count_though_their_lag_is_unknown():
    ahead = rows([(40, 2)] * 4, start=30, unknown_reason=UnknownReason.CONSUMER_AHEAD)
    found = queue_numbers([*recreated([(4, 10)], []), *ahead], 90)
    assert (found["readings_of_topic"], found["topic_seconds"], found["lag_messages"]) == (4, 45.0, None)


def test_a_loss_is_not_made_of_two_topics():
    gone = recreated([(0, 10)], [(50, 90)])
    gone[-1] |= {"min_offset": 40}
    assert queue_numbers(gone, 45)["skipped_us"] is None


def test_a_time_lag_of_the_topic_before_bounds_none_of_the_next():
    readings = recreated([(4, 10), (4, 20)], [(4, 90), (4, 95)])
    read = gathered(readings)
    (row,) = lags_of(read, TimeLags.none(1))
    row["lags"] = [{"at_us": us(15), "seconds": 2.0, "kind": "interpolated", "error_seconds": 1.0}]
    lags = TimeLags.of(pa.array([row["lags"]]))
    assert np.isnan(queue_numbers(readings, 61, lags)["time_lag_at_most_seconds"] or np.nan)


# Falls of offsets.


def falls(readings):
    return offset_falls(gathered(readings), us(0), us(600)).to_pylist()


def test_an_offset_that_is_lower_in_the_topic_that_came_after_is_no_fall():
    assert falls(recreated([(100, 200)], [(40, 300), (60, 320)])) == []


def test_a_step_from_one_topic_to_the_next_is_no_pace():
    readings = recreated([(0, 10), (15, 20)], [(3000, 4000), (3030, 4000), (3000, 4000)])
    assert [one["fastest"] for one in falls(readings)] == [2.0]
