"""Windows that repeat each week, by the clock of a time zone."""

from datetime import UTC, datetime, time, timedelta
from itertools import islice, pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings, strategies as st

from consumers.alerts.weekly import DAYS, Weekly, WrongWindow

SUNDAYS: dict[str, Any] = {"days": ["sun"], "start": "02:00", "end": "04:00", "time_zone": "Europe/Berlin"}


MONTH = timedelta(days=30)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def windows(since: str, count: int = 1, **said: Any) -> list[tuple[str, str]]:
    found = islice(Weekly.of(SUNDAYS | said).occurrences(utc(since), utc(since) + MONTH), count)
    return [(f"{start:%a %d %H:%M}", f"{end:%a %d %H:%M}") for start, end in found]


CASES: list[tuple[str, str, dict[str, Any], list[tuple[str, str]]]] = [
    ("winter: an hour after UTC", "2026-03-20T00:00", {}, [("Sun 22 01:00", "Sun 22 03:00")]),
    ("the clock skips 02:00 to 03:00", "2026-03-28T00:00", {}, [("Sun 29 01:00", "Sun 29 02:00")]),
    ("the clock shows 02:00 to 03:00 twice", "2026-10-24T00:00", {}, [("Sun 25 00:00", "Sun 25 03:00")]),
    ("a start that is skipped is when the clock jumps", "2026-03-28T00:00", {"start": "02:30", "end": "05:00"},
     [("Sun 29 01:00", "Sun 29 03:00")]),
    ("the clock goes back out of a window, and into it again", "2026-10-24T00:00", {"start": "02:30", "end": "05:00"},
     [("Sun 25 00:30", "Sun 25 01:00"), ("Sun 25 01:30", "Sun 25 04:00")]),
    ("what is skipped is never open", "2026-03-28T00:00", {"start": "02:15", "end": "02:45"},
     [("Sun 05 00:15", "Sun 05 00:45")]),
    ("what is shown twice is open twice", "2026-10-24T00:00", {"start": "02:15", "end": "02:45"},
     [("Sun 25 00:15", "Sun 25 00:45"), ("Sun 25 01:15", "Sun 25 01:45")]),
    ("over midnight", "2026-03-20T00:00", {"start": "23:00", "end": "01:00"}, [("Sun 22 22:00", "Mon 23 00:00")]),
    ("a whole day", "2026-03-20T00:00", {"start": "00:00", "end": "00:00"}, [("Sat 21 23:00", "Sun 22 23:00")]),
    ("days in a row are one window", "2026-03-20T12:00",
     {"days": ["sat", "sun"], "start": "00:00", "end": "00:00"}, [("Fri 20 23:00", "Sun 22 23:00")]),
    ("one that is open already", "2026-03-22T02:00", {}, [("Sun 22 02:00", "Sun 22 03:00")]),
    ("one that ends just then is over", "2026-03-22T03:00", {}, [("Sun 29 01:00", "Sun 29 02:00")]),
    ("a zone without daylight saving", "2026-03-20T00:00", {"time_zone": "Asia/Shanghai"},
     [("Sat 21 18:00", "Sat 21 20:00")]),
    ("a shift of half an hour", "2026-04-03T00:00",
     {"time_zone": "Australia/Lord_Howe", "start": "01:00", "end": "03:00"},
     [("Sat 04 14:00", "Sat 04 16:30")]),
]  # fmt: skip


@pytest.mark.parametrize(("what", "since", "said", "expected"), CASES, ids=[one[0] for one in CASES])
def test_it_is_open_while_the_clock_there_shows_it(
    what: str, since: str, said: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert windows(since, len(expected), **said) == expected


times = st.times(time(0), time(23, 59)).map(lambda at: at.replace(second=0, microsecond=0))
weeklies = st.builds(
    Weekly,
    st.sets(st.integers(0, 6), min_size=1, max_size=6).map(frozenset),
    times,
    times,
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Shanghai", "UTC"]).map(ZoneInfo),
)
moments = st.integers(0, 2 * 365 * 1440).map(lambda minutes: utc("2026-01-01T00:00") + timedelta(minutes=minutes))


@settings(max_examples=60, deadline=None)
@given(weekly=weeklies, since=moments, minutes=st.integers(0, 14 * 1440))
def test_a_point_in_time_is_open_where_a_window_has_it(weekly: Weekly, since: datetime, minutes: int) -> None:
    at = since + timedelta(minutes=minutes)
    found = weekly.occurrences(since, since + MONTH)
    assert weekly.is_open(at) == any(start <= at < end for start, end in found)


@settings(max_examples=40, deadline=None)
@given(weekly=weeklies, since=moments)
def test_windows_follow_one_another_and_never_touch(weekly: Weekly, since: datetime) -> None:
    found = list(weekly.occurrences(since, since + MONTH))
    assert found
    assert all(start < end for start, end in found)
    assert all(end < start for (_, end), (start, _) in pairwise(found))


@settings(max_examples=40, deadline=None)
@given(weekly=weeklies, since=moments)
def test_a_window_opens_and_closes_at_its_own_minutes(weekly: Weekly, since: datetime) -> None:
    second, until = timedelta(seconds=1), since + MONTH
    for start, end in weekly.occurrences(since, until):
        assert weekly.is_open(start)
        assert weekly.is_open(end - second)
        assert start == since or not weekly.is_open(start - second)
        assert end == until or not weekly.is_open(end)


def test_it_is_stored_as_it_was_said() -> None:
    assert Weekly.of(SUNDAYS | {"days": ["sun", "mon"]}).stored() == SUNDAYS | {"days": ["mon", "sun"]}


def test_every_day_without_a_break_never_ends() -> None:
    every = Weekly.of(SUNDAYS | {"days": list(DAYS), "start": "00:00", "end": "00:00"})
    since, until = utc("2026-03-20T00:00"), utc("2026-04-20T00:00")
    assert list(every.occurrences(since, until)) == [(since, until)]


@pytest.mark.parametrize(
    "wrong",
    [{"days": []}, {"days": ["someday"]}, {"days": None}, {"start": "24:00"}, {"start": "2:00"}, {"end": ""},
     {"end": 4},
     {"time_zone": "Mars/Olympus"}, {"time_zone": ""}, {"time_zone": None}, {"time_zone": "../etc/passwd"}],
)  # fmt: skip
def test_what_is_no_window_is_refused_by_its_field(wrong: dict[str, Any]) -> None:
    with pytest.raises(WrongWindow) as refusal:
        Weekly.of(SUNDAYS | wrong)
    assert [refusal.value.field] == list(wrong)
