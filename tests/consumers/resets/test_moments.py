"""Which moments are refused by the clock alone."""

import pytest

from consumers.resets.reset_targets import check_moment
from consumers.resets.target_values import ResetRefused
from tests.world import NOW, ago


@pytest.mark.parametrize("seconds", [0, 1, 3600, 48 * 3600])
def test_a_moment_of_the_raw_history_is_allowed(seconds, settings):
    settings.LAKE_RAW_HOURS = 48
    check_moment("prod", ago(seconds), NOW)


@pytest.mark.parametrize(
    ("seconds", "why"),
    [
        (-1, "in the future"),
        (48 * 3600 + 1, "Offsets of prod are stored for 48 hours (CONSUMERSCOPE_LAKE_RAW_HOURS)"),
        (48 * 3600 + 1, "Choose a point in time after 2026-03-12 03:00:00 UTC"),
    ],
)
def test_others_are_refused_with_the_reason(seconds, why, settings):
    settings.LAKE_RAW_HOURS = 48
    with pytest.raises(ResetRefused) as refused:
        check_moment("prod", ago(seconds), NOW)
    assert why in str(refused.value)
