"""Ranges of pages: a length up to now, or two times of one's own."""

from datetime import UTC, datetime, timedelta

import pytest
from django.test import RequestFactory

from dashboard.pages.common.moments import Range, own_range, range_of
from dashboard.pages.site.problems import UnknownFilter
from tests.world import NOW

OWN = "2026-03-14T02:10:00Z..2026-03-14T02:25:30Z"


def asked(name: str) -> Range:
    return range_of(RequestFactory().get("/", {"range": name}), NOW)


def test_two_times_are_a_range_whose_name_says_them_again() -> None:
    shown = asked(OWN)
    assert (shown.since, shown.until) == (
        datetime(2026, 3, 14, 2, 10, tzinfo=UTC),
        datetime(2026, 3, 14, 2, 25, 30, tzinfo=UTC),
    )
    assert shown.name == OWN


def test_a_range_that_ends_later_than_now_ends_now() -> None:
    assert asked("2026-03-14T02:00:00Z..2026-03-14T09:00:00Z").until == NOW


@pytest.mark.parametrize(
    "name",
    [
        "2h",
        "2026-03-14T02:10:00Z",
        "2026-03-14T02:10:00Z..",
        "2026-03-14T02:10:00Z..2026-03-14T02:10:59Z",
        "2026-03-14T02:25:00Z..2026-03-14T02:10:00Z",
        "2026-03-14T03:00:00Z..2026-03-14T04:00:00Z",
        "2016-03-14T02:10:00Z..2026-03-14T02:10:00Z",
        "0001-01-01T00:00:00Z..0001-01-02T00:00:00Z",
    ],
)
def test_what_is_no_range_is_refused_with_an_example(name: str) -> None:
    with pytest.raises(UnknownFilter, match="two times at least 1 min apart"):
        asked(name)


@pytest.mark.parametrize(
    ("name", "label", "words"),
    [
        ("1h", "1 h", "in the last 1 h"),
        (OWN, "2026-03-14 02:10 – 02:25:30", "from 2026-03-14 02:10 to 02:25:30"),
        (
            "2026-03-13T22:00:00Z..2026-03-14T02:00:00Z",
            "2026-03-13 22:00 – 2026-03-14 02:00",
            "from 2026-03-13 22:00 to 2026-03-14 02:00",
        ),
    ],
)
def test_a_range_is_said_in_words(name: str, label: str, words: str) -> None:
    assert (asked(name).label, asked(name).words) == (label, words)


def test_one_step_earlier_and_later_keep_the_length() -> None:
    shown = own_range(NOW - timedelta(minutes=50), NOW - timedelta(minutes=30))
    assert shown.moved(-1, NOW) == own_range(NOW - timedelta(minutes=70), NOW - timedelta(minutes=50))
    assert shown.moved(1, NOW) == own_range(NOW - timedelta(minutes=30), NOW - timedelta(minutes=10))


def test_no_range_reaches_further_than_now() -> None:
    shown = own_range(NOW - timedelta(minutes=25), NOW - timedelta(minutes=5))
    assert shown.moved(1, NOW) == own_range(NOW - timedelta(minutes=20), NOW)
    assert shown.wider(NOW) == own_range(NOW - timedelta(minutes=40), NOW)


@pytest.mark.parametrize(
    ("first", "begins"),
    [
        (NOW - timedelta(hours=3), NOW - timedelta(hours=1)),
        (NOW - timedelta(minutes=20), NOW - timedelta(minutes=20)),
        (NOW - timedelta(seconds=10), NOW - timedelta(minutes=5)),
    ],
)
def test_a_chart_begins_at_the_first_reading_if_that_is_later_and_never_in_the_last_minutes(
    first: datetime, begins: datetime
) -> None:
    assert asked("1h").collected_from(first).since == begins
