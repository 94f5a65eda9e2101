"""What a look-up found holds for as long as the offset stays between the knots that were kept."""

import pyarrow as pa
import pytest

from consumers.pipeline.durations import Durations
from consumers.pipeline.kernel.anchors import ANCHORS, KNOTS_KEPT
from consumers.pipeline.kernel.time_lag import History, time_lags
from tests.pipeline_rows import PLACE, at, gathered, lags_of, rows, stored_history, table, us

HOUR = 3600
NOW = 10 * HOUR
KNOTS = [(0, 100), (HOUR, 200), (NOW - 900, 900), (NOW, 1000)]


def stored(asked: pa.Table, knots=KNOTS) -> pa.Table:
    place = {name: PLACE[name] for name in ("cluster", "topic", "broker", "queue_id")}
    return table("knots", [place | {"broker_offset": offset, "at": at(seconds)} for seconds, offset in knots])


def kept(anchors):
    """The offsets of each one's knots."""
    return [[knot["broker_offset"] for knot in knots] for knots in anchors["knots"].to_pylist()]


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
    assert (kept(left), left["seen_offset"].to_pylist()) == ([[100, 200, 900, 1000]], [1010])


def test_an_offset_that_moves_between_the_same_two_knots_is_not_looked_up(anchors):
    answer, _ = looked_up(rows([(175, 1010)], start=NOW + 60), nothing, anchors)
    assert answer == ("interpolated", NOW + 60 - HOUR * 0.75)


def test_an_offset_that_moved_on_to_knots_that_were_kept_is_not_looked_up(anchors):
    answer, left = looked_up(rows([(550, 1010)], start=NOW + 60), nothing, anchors)
    assert answer == ("interpolated", NOW + 60 - HOUR - (NOW - 900 - HOUR) / 2)
    assert kept(left) == [[200, 900, 1000]]


def test_of_a_queue_that_moved_beyond_them_all_readings_are_looked_up(anchors):
    """One after the other in one part of history, so that what follows on the first of them is known to the last."""
    more = [*KNOTS, (NOW + 30, 1010)]
    history = History([must_not_be_asked], must_not_be_asked, lambda asked, **span: stored(asked, more))
    read = gathered(rows([(150, 1010), (1005, 1010)], start=NOW + 60))
    found, left = time_lags(read, 0, history, Durations(), anchors)
    (queue,) = lags_of(read, found)
    assert [lag["seconds"] for lag in queue["lags"]] == [NOW + 60 - HOUR / 2, 60.0]
    assert kept(left) == [[100, 200, 900, 1000, 1010]]


def test_only_the_next_few_knots_are_kept():
    many = [(60 * number, 10 * number) for number in range(100)]
    read = gathered(rows([(205, 990)], start=6000))
    _, left = time_lags(read, 0, stored_history(lambda asked: stored(asked, many)), Durations(), ANCHORS.empty_table())
    assert kept(left) == [[10 * number for number in range(20, 20 + KNOTS_KEPT)]]


@pytest.mark.parametrize("offset", [99, 1000])
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
    assert looked_up(rows([(1000, 1010)], start=NOW + 120), nothing, left)[0] == ("unknown", None)


def of_knots(anchors, *knots):
    """With other knots, each as seconds and offset."""
    found = [[{"at": us(seconds), "broker_offset": offset} for seconds, offset in of_one] for of_one in knots]
    place = anchors.column_names.index("knots")
    return anchors.set_column(place, "knots", pa.array(found, ANCHORS.field("knots").type))


def test_an_offset_that_moved_beyond_them_is_looked_up_from_the_last_on(anchors):
    spans = []

    def onward(asked, *, since_us, until_us):
        spans.append((since_us, until_us))
        return stored(asked)

    read = gathered(rows([(210, 1010)], start=NOW + 60))
    history = History([must_not_be_asked], must_not_be_asked, onward)
    found, left = time_lags(read, 0, history, Durations(), of_knots(anchors, KNOTS[:2]))
    (queue,) = lags_of(read, found)
    share = (210 - 200) / (900 - 200)
    assert [lag["seconds"] for lag in queue["lags"]] == [pytest.approx(NOW + 60 - HOUR - share * (NOW - 900 - HOUR))]
    assert kept(left) == [[200, 900, 1000]]
    as_if_even = (NOW + 45 - HOUR) * (210 - 200) / (1000 - 200)
    reach = HOUR + 2 * as_if_even + HOUR + 120  # as long as the knots that were kept, and a little
    assert spans == [(us(HOUR), pytest.approx(us(reach), abs=1))]


def test_one_that_was_below_all_history_is_looked_up_from_its_beginning_on():
    _, below = looked_up(rows([(50, 1000)] * 4, start=NOW), stored, ANCHORS.empty_table())
    read = gathered(rows([(50, 1010), (250, 1010)], start=NOW + 60))
    history = History([must_not_be_asked], must_not_be_asked, lambda asked, **span: stored(asked))
    found, _ = time_lags(read, 0, history, Durations(), of_knots(below, KNOTS[:2]))
    (queue,) = lags_of(read, found)
    assert [lag["kind"] for lag in queue["lags"]] == ["at_least", "interpolated"]


def test_queues_that_are_hours_apart_are_looked_up_apart(anchors):
    both = pa.concat_tables([anchors, anchors])
    place = both.column_names.index("group")
    both = both.set_column(place, "group", pa.array(["billing", "shipping"]))
    both = of_knots(both, KNOTS[:2], [(5 * HOUR, 100), (6 * HOUR, 200)])
    spans = []

    def onward(asked, *, since_us, until_us):
        spans.append((asked.num_rows, since_us))
        return nothing(asked)

    read = gathered(rows([(300, 1010)], start=NOW + 60) + rows([(300, 1010)], start=NOW + 60, group="shipping"))
    time_lags(read, 0, History([nothing], nothing, onward), Durations(), both)
    assert spans == [(1, us(HOUR)), (1, us(6 * HOUR))]


@pytest.mark.parametrize("part", [slice(0, 2), slice(2, 4)], ids=["ends too early", "begins too late"])
def test_a_part_of_history_is_no_answer_where_one_of_the_two_knots_is_missing(anchors, part):
    def onward(asked, *, since_us, until_us):
        return stored(asked)[part]

    read = gathered(rows([(500, 1010)], start=NOW + 60))
    history = History([nothing], stored, onward)
    found, _ = time_lags(read, 0, history, Durations(), of_knots(anchors, KNOTS[:2]))
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
