"""Java's milliseconds."""

from datetime import UTC, datetime

import pytest

from consumers.rocketmq.wire.codes import time_of


@pytest.mark.parametrize(
    ("milliseconds", "time"),
    [
        (1_772_330_400_500, datetime(2026, 3, 1, 2, 0, 0, 500_000, UTC)),
        (1_795_257_822_306, datetime(2026, 11, 21, 10, 43, 42, 306_000, UTC)),
        (None, None),
        (0, None),
        (-1, None),
        (2**63 - 1, None),
    ],
)
def test_a_time_is_exact_or_not_known(milliseconds, time):
    assert time_of(milliseconds) == time
