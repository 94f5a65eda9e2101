"""What the bench of pages makes of the times that it is told."""

import pytest

from tests.bench.pages import pages

TOLD = {f"/page-{number}/": {"seconds": number / 1000, "bytes": 1000 * number} for number in range(1, 101)}


def test_of_a_hundred_pages_five_may_be_slower_than_what_it_says() -> None:
    time, weight = pages.results(TOLD, "10 groups, SQLite: ")
    assert (time.ours, time.beside_value) == (pytest.approx(95.0), 100.0)
    assert time.note.startswith("/page-100/ 100, /page-99/ 99,")
    assert (weight.ours, weight.beside_value, weight.note) == (100.0, 150.0, "/page-100/")


def test_next_to_no_pages_are_no_measurement() -> None:
    with pytest.raises(SystemExit, match="the times say nothing"):
        pages.results({"/": TOLD["/page-1/"]}, "10 groups, SQLite: ")
