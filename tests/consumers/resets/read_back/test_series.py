"""Readings folded: what is kept is each offset that differs, and when the latest came."""

from datetime import timedelta

from hypothesis import given, strategies as st

from consumers.resets.applying.case import Change, Series, restored, saved
from tests.world import NOW


def series(*offsets: int | None) -> Series:
    """One a second."""
    read = Series()
    for second, offset in enumerate(offsets):
        read = read.read(NOW + timedelta(seconds=second), offset)
    return read


def test_an_offset_that_is_read_again_changes_only_when_and_how_often_it_was_read() -> None:
    read = series(40, 40, 40)

    assert read.changes == (Change(NOW, 40),)
    assert (read.count, read.seconds) == (3, 2.0)


def test_a_reading_that_failed_stands_beside_what_was_read() -> None:
    read = series(40).failed("it is silent")

    assert (read.last, read.error, read.broken) == (40, "it is silent", True)


def test_a_later_reading_takes_the_error_away_and_not_the_gap() -> None:
    read = series(40).failed("it is silent").read(NOW, 41)

    assert (read.error, read.broken) == (None, True)


def test_how_long_something_holds_ends_where_the_offset_went_back() -> None:
    assert series(50, 60, 45, 46, 47).held(lambda offset: offset is not None and offset > 40) == 2.0


def test_the_run_begins_where_the_offset_last_went_back() -> None:
    assert [change.offset for change in series(50, 60, 45, 46, 47).run] == [45, 46, 47]


@given(st.lists(st.none() | st.integers(0, 5), min_size=1))
def test_another_worker_finds_every_change_that_was_kept(offsets: list[int | None]) -> None:
    read = series(*offsets)

    found = restored(saved(read), read.last_at)

    assert (found.changes, found.last_at, found.broken) == (read.changes, read.last_at, True)


def test_nothing_kept_is_nothing_read() -> None:
    assert restored([], None) == Series()
