from datetime import UTC, datetime, timedelta, timezone

from consumers.words.spans import utc
from dashboard.wording.numbers import ago, clock

NOW = datetime(2026, 3, 14, 3, 0, tzinfo=UTC)


def test_it_says_how_long_ago() -> None:
    assert ago(NOW - timedelta(seconds=6), NOW) == "6 s ago"


def test_it_never_places_a_reading_in_the_future() -> None:
    assert ago(NOW + timedelta(seconds=2), NOW) == "0 s ago"


def test_it_names_the_time_of_day_alone_for_today() -> None:
    assert clock(NOW - timedelta(minutes=46), NOW) == "02:14:00"


def test_it_adds_the_date_of_another_day() -> None:
    assert clock(NOW - timedelta(hours=4), NOW) == "13 Mar 23:00:00"


def test_it_turns_every_zone_into_utc_and_says_so() -> None:
    there = datetime(2026, 3, 14, 11, 0, tzinfo=timezone(timedelta(hours=8)))
    assert utc(there) == "2026-03-14 03:00:00 UTC"
