"""When nothing was known of a subject."""

from datetime import timedelta

import pytest

from consumers.alerts.preview import result as module
from consumers.alerts.preview.result import unknown_spans
from consumers.alerts.preview.values import Grid
from tests.world import NOW, ago

MINUTE = 60


def spans(known, *, first_seen=None, minutes=10):
    """In minutes before now; `known` are those at which something was."""
    grid = Grid(ago(minutes * MINUTE), NOW, MINUTE)
    first = None if first_seen is None else ago(first_seen * MINUTE)
    found = unknown_spans(grid, [ago(at * MINUTE) for at in known], first)
    return [tuple((NOW - at) / timedelta(minutes=1) for at in span) for span in found]


@pytest.mark.parametrize(
    ("known", "first_seen", "expected"),
    [
        (range(9, -1, -1), None, []),
        ([], None, [(10, 0)]),
        ([7, 6, 5], None, [(10, 8), (5, 0)]),
        ([9, 8, 3, 2, 1, 0], None, [(8, 4)]),
        ([4, 3, 2, 1, 0], 5.5, [(5.5, 5)]),
        ([5, 4, 3, 2, 1, 0], 5.5, []),
        ([3, 2, 1, 0], 5.5, [(5.5, 4)]),
        ([], 5, [(5, 0)]),
        ([3, 2, 1, 0], 30, [(10, 4)]),
    ],
)
def test_it_is_unknown_between_what_is_known(known, first_seen, expected):
    assert spans(known, first_seen=first_seen) == expected


def test_the_longest_are_kept_in_order(monkeypatch):
    monkeypatch.setattr(module, "SPANS_AT_MOST", 2)
    assert spans([8, 6, 2]) == [(6, 3), (2, 0)]
