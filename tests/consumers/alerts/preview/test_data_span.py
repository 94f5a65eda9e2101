"""For how much of a range a preview had data."""

import pytest

from consumers.alerts.preview.result import data_span, unknown_share_in_data
from consumers.alerts.preview.values import Grid
from consumers.vocabulary.times import microseconds
from tests.preview_rows import seconds_ago
from tests.world import NOW, ago

MINUTE = 60
GRID = Grid(ago(10 * MINUTE), NOW, MINUTE)


def moments(*minutes):
    return {microseconds(ago(MINUTE * before)) for before in minutes}


@pytest.mark.parametrize(
    ("minutes", "first", "last", "known", "spans"),
    [
        (range(10), 10, 0, 10, []),
        ((2, 1, 0), 3, 0, 3, [(10, 3)]),
        ((8, 7, 4), 9, 4, 3, [(10, 9), (7, 5), (4, 0)]),
    ],
)
def test_it_is_from_the_first_step_to_the_last_that_is_known(minutes, first, last, known, spans):
    found = data_span(GRID, moments(*minutes))
    ends = [seconds_ago(found[name]) / MINUTE for name in ("known_from", "known_to")]
    assert (ends, found["known_seconds"], found["unknown_seconds"]) == ([first, last], known * 60, (10 - known) * 60)
    told = [tuple(seconds_ago(span[name]) / MINUTE for name in ("from", "to")) for span in found["unknown_spans"]]
    assert (told, found["unknown"]) == (spans, {})


def test_no_data_has_no_ends_and_says_why():
    found = data_span(GRID, ())
    assert (found["known_from"], found["known_to"], found["known_seconds"]) == (None, None, 0)
    assert found["unknown"] == dict.fromkeys(("known_from", "known_to"), "there is no data in the range")
    assert [tuple(map(seconds_ago, span.values())) for span in found["unknown_spans"]] == [(600, 0)]


def test_the_share_in_data_counts_no_moment_without_data():
    """Five moments have data: the one subject has all, the other, seen first two minutes ago, half of its own."""
    known = moments(4, 3, 2, 1, 0)
    assert unknown_share_in_data([5, 1], [None, ago(2 * MINUTE)], known) == pytest.approx(1 - 6 / 7)
    assert unknown_share_in_data([0], [None], ()) is None
