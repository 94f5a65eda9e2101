"""Which steps of readings are offsets that went back."""

import pytest
from hypothesis import given, strategies as st

from consumers.pipeline.kernel.falls import offset_falls
from tests.pipeline_rows import gathered, rows, us


def falls(found, since=0.0, until=600.0):
    return offset_falls(gathered(found), us(since), us(until)).to_pylist()


def test_an_offset_that_went_back_is_one_fall():
    [one] = falls(rows([(100, 200), (130, 200), (40, 210), (60, 220)]))

    assert (one["from_offset"], one["to_offset"], one["broker_offset"]) == (130, 40, 210)
    assert (one["before_us"], one["at_us"], one["fastest"]) == (us(15), us(30), 2.0)


def test_a_topic_created_anew_is_no_fall():
    assert falls(rows([(100, 200), (10, 20)])) == []


def test_a_fall_outside_the_range_is_left_to_its_own_run():
    found = rows([(100, 200), (40, 200), (90, 200)])

    assert falls(found, since=30) == []
    assert falls(found, until=15) == []
    assert len(falls(found, since=15, until=16)) == 1


def test_an_offset_that_was_gone_in_between_was_lost():
    before, after = rows([(100, 200)]), rows([(40, 200)], start=30)
    gone = rows([(None, 200)], start=15, unknown_reason="offset_lost")

    assert [one["was_lost"] for one in falls([*before, *gone, *after])] == [True]
    assert [one["was_lost"] for one in falls([*before, *after])] == [False]


@pytest.mark.parametrize("after", [90, 130, 150])
def test_a_step_in_which_a_slave_was_behind_counts_wherever_it_ends(after):
    before, behind = rows([(130, 200)]), rows([(None, 200)], start=15, unknown_reason="slave_behind")

    [one] = falls([*before, *behind, *rows([(after, 200), (160, 200)], start=30)])

    assert (one["was_behind"], one["from_offset"], one["to_offset"]) == (True, 130, after)


def test_queues_are_compared_with_themselves_alone():
    found = [*rows([(100, 200), (110, 200)]), *rows([(50, 60), (20, 60)], queue_id=1)]

    assert [(one["queue_id"], one["from_offset"]) for one in falls(found)] == [(1, 50)]


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=8), min_size=1, max_size=5
    )
)
def test_offsets_that_only_rise_never_fall(queues):
    """However fast they rise, and however far the broker is ahead."""
    found = []
    for number, moves in enumerate(queues):
        consumer = broker = 0
        offsets = []
        for consumed, produced in moves:
            consumer += consumed
            broker = max(broker + produced, consumer)
            offsets.append((consumer, broker))
        found += rows(offsets, queue_id=number)

    assert falls(found) == []
