"""Segments as cells: the worst that holds in a cell is shown. Cells of ten seconds from NOW on."""

from datetime import timedelta

import pytest

from consumers.ownership.rows import Holding
from consumers.ownership.segments import Claim, Segment
from consumers.ownership.timeline import Axis, runs
from tests.world import NOW, ago


def at(seconds):
    return NOW + timedelta(seconds=seconds)


A, B = (Claim(owner, at(-100), at(500), None) for owner in "ab")
AXIS = Axis(NOW, timedelta(seconds=10), 6)


def segment(since, until, holding, *claims):
    return Segment(at(since), at(until), Holding(holding), claims)


def told(*segments):
    return [(run.cells, run.holding.value, run.owners) for run in runs(list(segments), AXIS, {"a": 0, "b": 1})]


@pytest.mark.parametrize(
    ("segments", "expected"),
    [
        ([segment(0, 60, "owner", A)], [(6, "owner", (0,))]),
        (
            [segment(0, 21, "owner", A), segment(21, 24, "changed", A, B), segment(24, 60, "owner", B)],
            [(2, "owner", (0,)), (1, "changed", (0, 1)), (3, "owner", (1,))],
        ),
        (
            [segment(0, 21, "owner", A), segment(21, 22, "nobody"), segment(22, 60, "unknown")],
            [(2, "owner", (0,)), (1, "nobody", ()), (3, "unknown", ())],
        ),
        (
            [segment(0, 35, "nobody"), segment(35, 36, "several", A, B), segment(36, 60, "nobody")],
            [(3, "nobody", ()), (1, "several", (0, 1)), (2, "nobody", ())],
        ),
        (
            [segment(0, 15, "changed", A), segment(15, 20, "unknown"), segment(20, 60, "owner", B)],
            [(1, "changed", (0,)), (1, "unknown", ()), (4, "owner", (1,))],
        ),
    ],
)
def test_in_each_cell_the_worst_is_shown(segments, expected):
    assert told(*segments) == expected


def test_an_owner_is_told_from_where_to_where_it_was_seen():
    [run] = runs([segment(0, 60, "owner", A)], AXIS, {"a": 0})
    assert (run.since, run.until) == (at(-100), at(500))


def test_a_gap_is_told_by_its_own_bounds_not_by_the_cells():
    found = runs([segment(0, 21, "owner", A), segment(21, 60, "nobody")], AXIS, {"a": 0})
    assert (found[1].since, found[1].until) == (at(21), at(60))


def test_the_cells_stay_where_they_are_while_the_range_moves():
    one, later = Axis.over(ago(3600), NOW, 240), Axis.over(ago(3597), at(3), 240)
    assert (one.step, one.since, one.cells) == (timedelta(seconds=15), ago(3600), 240)
    assert (later.step, later.since, later.until) == (one.step, one.since, one.until + one.step)


def test_a_cell_is_never_shorter_than_a_second():
    assert Axis.over(ago(60), NOW, 240).step == timedelta(seconds=1)
