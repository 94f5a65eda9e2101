"""Offsets that somebody sets are no consumption: what is said of a queue at every minute around it."""

import pytest

from consumers.pipeline.durations import Durations

from .course import Course, states, story, told

BACK, FORTH = 1800, 2100


def steady(rate):
    return lambda second: rate


def around(course, first=25, last=45):
    return {until // 60: found[0] for until, found in told([course], Durations()) if first <= until // 60 <= last}


@pytest.mark.parametrize("ours", [True, False], ids=["our reset", "somebody else's"])
def test_a_group_without_members_stays_stopped_through_a_reset_and_its_restore(ours):
    course = Course(steady(1), lambda second: 1 if second < 600 else 0, 3600, members=0, ours=ours)
    course.sets = {BACK: 100, FORTH: 600}
    course.__post_init__()
    said = around(course)
    assert {one["state"] for minute, one in said.items() if not 30 <= minute <= 33} == {"STOP"}
    # Where the offset went back it is said, as an event of its own.
    assert {one["state"] for minute, one in said.items() if 30 <= minute <= 33} <= {"REWIND", "STOP"}
    assert {one["consume_rate"] for one in said.values()} <= {0.0, None}


def test_a_skip_to_the_end_is_no_drain_and_no_rate():
    course = Course(steady(10), steady(4), 3600)
    course.sets = {BACK: 17_990}
    course.__post_init__()
    said = around(course, 29, 36)
    assert {minute for minute, one in said.items() if one["state"] == "OK"} >= set(range(31, 33))
    assert max(one["consume_rate"] or 0 for one in said.values()) == pytest.approx(4, abs=0.2)


def test_a_reset_back_of_a_busy_group_is_a_rewind_and_then_drains():
    course = Course(steady(4), steady(8), 3 * 3600)
    course.sets = {BACK: 2000}
    course.__post_init__()
    assert states(story([course], Durations())[0]) == [
        (1, "OK"),
        (30, "REWIND offset_went_back"),
        (33, "OK"),
    ]


def test_a_rise_of_the_time_lag_that_no_standing_still_explains_begins_a_new_trend():
    """Somebody sets a group back by half an hour, which then keeps pace: it is behind, and does not fall behind."""
    course = Course(steady(4), steady(4), 3600, ours=False)
    course.sets = {BACK: 7200 - 7000}
    course.__post_init__()
    rules = [rule for _, _, rule in story([course], Durations())[0]]
    assert "falling_behind" not in rules
    assert rules[-1] == "not_draining"
