"""What a look-up found holds for as long as the offset stays between the same two knots."""

import pyarrow as pa
import pytest

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.anchors import ANCHORS
from consumers.pipeline.kernel.time_lag import History, time_lags
from tests.pipeline_rows import PLACE, at, gathered, lags_of, rows, stored_history, table, us

HOUR = 3600
NOW = 10 * HOUR
KNOTS = [(0, 100), (HOUR, 200), (NOW - 900, 900), (NOW, 1000)]


def stored(asked: pa.Table) -> pa.Table:
    place = {name: PLACE[name] for name in ("cluster", "topic", "broker", "queue_id")}
    return table("knots", [place | {"broker_offset": offset, "at": at(seconds)} for seconds, offset in KNOTS])


def nothing(asked: pa.Table) -> pa.Table:
    return table("knots", [])


def must_not_be_asked(asked: pa.Table) -> pa.Table:
    raise AssertionError(f"All knots were asked for {asked.to_pylist()}.")


def looked_up(readings, history, anchors, since_us=None):
    """The newest time lag, as kind and seconds, and the anchors that are left."""
    read = gathered(readings)
    found, left = time_lags(
        read, read.readings.at_us.max() if since_us is None else since_us, stored_history(history), Durations(), anchors
    )
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


def test_an_offset_below_all_history_is_looked_up_once():
    answer, left = looked_up(rows([(50, 1000)] * 4, start=NOW), stored, ANCHORS.empty_table())
    assert answer == ("at_least", float(NOW + 45))
    answer, left = looked_up(rows([(99, 1010)], start=NOW + 60), nothing, left)
    assert answer == ("at_least", float(NOW + 60))
    assert looked_up(rows([(100, 1010)], start=NOW + 120), nothing, left)[0] == ("unknown", None)


def test_an_offset_that_moved_on_is_looked_up_from_its_anchor_on(anchors):
    spans = []

    def onward(asked, *, since_us, until_us):
        spans.append((since_us, until_us))
        return stored(asked)

    read = gathered(rows([(200, 1010)], start=NOW + 60))
    history = History(near=must_not_be_asked, far=must_not_be_asked, within=onward)
    found, left = time_lags(read, 0, history, Durations(), anchors)
    (queue,) = lags_of(read, found)
    assert [lag["seconds"] for lag in queue["lags"]] == [NOW + 60 - HOUR]
    assert left["left_offset"].to_pylist() == [200]
    reach = 2 * (NOW + 45) * (200 - 100) / (1000 - 100) + 600
    assert spans == [(us(0), pytest.approx(us(reach), abs=1))]


def test_queues_that_are_hours_apart_are_looked_up_apart(anchors):
    other = pa.concat_tables([anchors, anchors])
    columns = {"group": ["billing", "shipping"], "left_at": [us(0), us(5 * HOUR)], "right_at": [us(HOUR), us(6 * HOUR)]}
    for name, values in columns.items():
        place = other.column_names.index(name)
        other = other.set_column(place, name, pa.array(values, other.schema.field(name).type))
    spans = []

    def onward(asked, *, since_us, until_us):
        spans.append((asked.num_rows, since_us))
        return nothing(asked)

    read = gathered(rows([(300, 1010)], start=NOW + 60) + rows([(300, 1010)], start=NOW + 60, group="shipping"))
    time_lags(read, 0, History(near=nothing, far=nothing, within=onward), Durations(), other)
    assert spans == [(1, us(0)), (1, us(5 * HOUR))]


@pytest.mark.parametrize("part", [slice(0, 2), slice(2, 4)], ids=["ends too early", "begins too late"])
def test_a_part_of_history_is_no_answer_where_one_of_the_two_knots_is_missing(anchors, part):
    def onward(asked, *, since_us, until_us):
        return stored(asked)[part]

    read = gathered(rows([(500, 1010)], start=NOW + 60))
    found, _ = time_lags(read, 0, History(near=nothing, far=stored, within=onward), Durations(), anchors)
    (queue,) = lags_of(read, found)
    share = (500 - 200) / (900 - 200)
    assert queue["lags"][0]["seconds"] == pytest.approx(NOW + 60 - HOUR - share * (NOW - 900 - HOUR))


def test_a_look_up_from_before_the_topic_was_created_anew_leaves_none():
    _, left = looked_up(rows([(150, 1000), (10, 10)], start=NOW), stored, ANCHORS.empty_table(), since_us=0)
    assert left.num_rows == 0


def test_a_message_that_was_stored_after_the_last_knot_leaves_none():
    answer, left = looked_up(rows([(1000, 1400)], start=NOW + HOUR), stored, ANCHORS.empty_table())
    assert answer == ("interpolated", float(HOUR))
    assert left.num_rows == 0


def test_a_reading_of_before_the_anchors_knots_does_not_use_it(anchors):
    """A range may be run again."""
    answer, _ = looked_up(rows([(150, 190)], start=HOUR // 2), nothing, anchors)
    assert answer == ("unknown", None)
