"""Single queues among a broker's rows."""

import pytest

from consumers.polling.samples.reading import behind, places
from tests.readings import broker, row

ROWS = broker(
    "broker-a",
    row("billing", "Orders", 0, 4, 9),
    row("billing", "Orders", 1, 9, 9),
    row("audit", "Orders", 0, 2, 9),
    row("billing", "Stock", 10, 12, 9, unknown_reason="ahead"),
    row("billing", "Stock", 1, None, 9, unknown_reason="never_committed"),
    row("billing", "Stock", 2, 4, 9, unknown_reason="not caught up"),
).rows


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ([], {}),
        ([("billing", "Orders", 0)], {("billing", "Orders", 0): 0}),
        ([("audit", "Orders", 0)], {("audit", "Orders", 0): 2}),
        ([("audit", "Orders", 0), ("billing", "Stock", 1)], {("audit", "Orders", 0): 2, ("billing", "Stock", 1): 4}),
        ([("billing", "Orders", 2), ("nobody", "Orders", 0), ("billing", "Stock", 0)], {}),
    ],
)
def test_it_finds_exactly_the_wanted_queues(wanted, found):
    assert places(ROWS, wanted) == found


def test_rows_of_which_there_are_none_hold_no_queue():
    assert places(ROWS.slice(0, 0), [("billing", "Orders", 0)]) == {}


def test_behind_are_the_rows_whose_lag_is_known_and_above_zero():
    at, lag = behind(ROWS)
    assert (at.tolist(), lag.tolist()) == ([0, 2], [5, 7])
