"""Which sights of a broker offset become knots."""

import pytest

from consumers.pipeline.kernel.anchors import new_knots
from tests.pipeline_rows import at, gathered, rows, us


def found(readings, since, until):
    table = new_knots(gathered(readings), us(since), us(until))
    return sorted(((row["at"] - at(0)).total_seconds(), row["broker_offset"]) for row in table.to_pylist())


def offsets(*values):
    return [(0, value) for value in values]


@pytest.mark.parametrize(
    ("seen", "since", "expected", "why"),
    [
        (offsets(5, 6, 7), 15, [(0, 5), (15, 6), (30, 7)], "each change, and what it began from"),
        (offsets(5, 6, 7, 8), 30, [(30, 7), (45, 8)], "no change twice"),
        (offsets(5, 5, 5, 9), 15, [(30, 5), (45, 9)], "the right end of a flat run comes with the change"),
        (offsets(5, 5, 5, 5), 0, [(0, 5)], "a flat run has none inside"),
        (offsets(5, 5, 5, 5), 15, [], "nothing changed in the range"),
        (offsets(9, 9, 2), 15, [(15, 9), (30, 2)], "a fall has both sides"),
    ],
)
def test_it_keeps(seen, since, expected, why):
    assert found(rows(seen), since, 60) == expected, why


def test_a_quiet_queue_has_one_every_hour():
    assert found(rows(offsets(5, 5, 5), start=3570), 3585, 3700) == [(3600, 5)]


def test_the_groups_of_a_topic_share_its_knots():
    both = rows(offsets(5, 6)) + rows(offsets(5, 6), group="shipping")
    assert found(both, 15, 60) == [(0, 5), (15, 6)]


def test_a_change_belongs_to_the_minute_in_which_it_was_seen():
    table = new_knots(gathered(rows(offsets(5, 6), start=50)), us(60), us(120))
    assert {row["minute"] for row in table.to_pylist()} == {at(60)}
