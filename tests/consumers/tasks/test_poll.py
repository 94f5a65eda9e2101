"""When the readings of many clusters begin."""

import pytest

from consumers.tasks.poll import begins


@pytest.mark.parametrize(
    ("clusters", "expected"), [(0, []), (1, [0]), (2, [0, 7.5]), (5, [0, 3, 6, 9, 12])], ids=lambda value: str(value)
)
def test_readings_are_spread_evenly_over_a_period_and_one_alone_begins_at_once(clusters, expected):
    assert begins(clusters, 15) == expected
