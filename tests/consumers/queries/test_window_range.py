"""The windows of a range."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from consumers.pipeline.upkeep import STEPS
from consumers.queries.windows import RangeError, window_range
from tests.world import NOW

MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


@given(since=MOMENTS, seconds=st.integers(1, 86400), step=st.sampled_from(STEPS))
def test_it_covers_the_range_and_no_window_more(since, seconds, step):
    until = since + timedelta(seconds=seconds)
    windows = window_range(since, until, step)
    assert windows.start <= since < windows.start + timedelta(seconds=step)
    assert windows.until - timedelta(seconds=step) < until <= windows.until
    assert [windows.index(start) for start in windows.starts] == list(range(windows.count))


@pytest.mark.parametrize(
    ("seconds", "step", "sentence"),
    [
        (0, None, "The range is empty"),
        (-60, None, "The range is empty"),
        (60, 61, "The step must be one of 60, 600, 3600"),
        (86400 * 30, 60, "Use a longer step"),
    ],
)
def test_it_rejects_what_cannot_be_shown(seconds, step, sentence):
    with pytest.raises(RangeError, match=sentence):
        window_range(NOW, NOW + timedelta(seconds=seconds), step)
