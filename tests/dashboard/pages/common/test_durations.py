import pytest
from hypothesis import given, strategies as st

from dashboard.pages.common.moments import seconds_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90 s", 90), ("30 min", 1800), ("2h", 7200), (" 1.5 d ", 129_600), ("0.5 s", 0.5)],
)
def test_a_length_of_time_is_read_in_its_unit(text: str, seconds: float) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "2 weeks", "-1 h", "1e9", "२ h", "nan", "1 h 2 min", "9" * 400])
def test_what_is_no_length_of_time_is_none(text: str) -> None:
    assert seconds_of(text) is None


@given(st.text())
def test_whatever_is_typed_is_a_number_from_0_on_or_nothing(text: str) -> None:
    seconds = seconds_of(text)
    assert seconds is None or seconds >= 0
