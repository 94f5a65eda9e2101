import re

import pytest
from django.utils.translation import override
from hypothesis import given, strategies as st

from consumers.alerts.queries.words import number_words
from consumers.words.spans import percent
from dashboard.wording.numbers import chosen, count, duration, middle_cut, share, size
from dashboard.wording.resets import destination


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (0.41, "0.41 s"),
        (9.04, "9 s"),
        (12, "12 s"),
        (192, "3 min 12 s"),
        (41 * 60, "41 min"),
        (4800, "1 h 20 min"),
        (2 * 86400 + 4 * 3600, "2 d 4 h"),
        (30 * 86400, "30 d"),
        (30 * 86400 + 1, "> 30 d"),
        (1.1e16, "> 30 d"),
    ],
)
def test_it_writes_a_duration_with_the_digits_that_matter(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@given(seconds=st.floats(0, 1e18))
def test_no_duration_is_above_the_cap_or_in_more_than_two_units(seconds: float) -> None:
    text = duration(seconds)
    assert len(text.split()) <= (3 if text.startswith(">") else 4)
    days = re.search(r"(\d+) d", text)
    assert days is None or int(days[1]) <= 30


@pytest.mark.parametrize(
    ("client_id", "text"),
    [("10.0.0.7@3312", "10.0.0.7@3312"), ("172.17.0.12@23#1234567890123", "172.17.0.12@…34567890123")],
)
def test_a_long_client_id_keeps_its_address_and_its_end(client_id: str, text: str) -> None:
    assert middle_cut(client_id) == text


def test_what_somebody_chose_is_said_in_full() -> None:
    assert chosen(45 * 86400) == "45 d"
    assert destination("skip_older", 45 * 86400) == "skip older than 45 d"
    assert number_words("time_lag_seconds", 45 * 86400, is_chosen=True) == "45 d"
    assert number_words("time_lag_seconds", 45 * 86400) == "> 30 d"


@pytest.mark.parametrize(("language", "text"), [("en", "12.5 %"), ("zh-hans", "12.5%")])
def test_a_percentage_has_the_space_of_its_language_wherever_it_stands(language: str, text: str) -> None:
    with override(language):
        assert percent(12.5) == number_words("retry_share", 0.125) == text
        assert share(0.5).replace("50", "12.5") == text


def test_it_never_writes_a_short_duration_as_zero() -> None:
    assert duration(0.004) == "0.004 s"


@pytest.mark.parametrize(
    ("octets", "text"), [(-2_500_000, "−2.5 MB"), (0, "0 B"), (999, "999 B"), (1900, "1.9 kB"), (1_900_000, "1.9 MB")]
)
def test_it_writes_bytes_in_decimal_units(octets: int, text: str) -> None:
    assert size(octets) == text


@pytest.mark.parametrize(("part", "text"), [(1.0, "100 %"), (0.9999, "99.9 %"), (0.5, "50 %"), (0.004, "0.4 %")])
def test_it_never_writes_a_part_as_the_whole(part: float, text: str) -> None:
    assert share(part) == text


def test_it_separates_thousands() -> None:
    assert count(1204331) == "1,204,331"
