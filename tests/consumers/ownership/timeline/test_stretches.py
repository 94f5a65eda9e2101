"""Stretches of time with reasons: put in a row, cut, and what they leave open."""

from datetime import timedelta

from consumers.ownership.segments import Stretch, in_a_row, uncovered, within
from tests.world import NOW


def at(seconds):
    return NOW + timedelta(seconds=seconds)


def stretch(since, until, reason="x"):
    return Stretch(at(since), at(until), reason)


def test_of_two_upon_each_other_the_first_to_begin_tells_the_reason():
    assert in_a_row([stretch(5, 20, "b"), stretch(0, 10, "a")]) == [stretch(0, 10, "a"), stretch(10, 20, "b")]


def test_one_inside_another_is_not_told_again():
    assert in_a_row([stretch(0, 10, "a"), stretch(2, 8, "b")]) == [stretch(0, 10, "a")]


def test_neighbours_with_one_reason_are_one():
    assert in_a_row([stretch(0, 10), stretch(10, 20), stretch(30, 40)]) == [stretch(0, 20), stretch(30, 40)]


def test_only_the_parts_inside_a_range_are_given():
    assert list(within([stretch(0, 10), stretch(20, 30)], at(5), at(25))) == [stretch(5, 10), stretch(20, 25)]
    assert list(within([stretch(0, 10)], at(10), at(20))) == []


def test_what_is_not_covered_is_left():
    assert list(uncovered([(at(5), at(10)), (at(8), at(12)), (at(20), at(99))], at(0), at(30))) == [
        (at(0), at(5)),
        (at(12), at(20)),
    ]
    assert list(uncovered([], at(0), at(30))) == [(at(0), at(30))]
    assert list(uncovered([(at(-5), at(0)), (at(30), at(40))], at(0), at(30))) == [(at(0), at(30))]
    assert list(uncovered([(at(0), at(10)), (at(10), at(30))], at(0), at(30))) == []
