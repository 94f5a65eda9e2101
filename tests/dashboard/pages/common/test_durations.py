import pytest
from django.utils.translation import override
from hypothesis import given, strategies as st

from consumers.models import Measure
from dashboard.pages.alerts.typed_values import lines_of_overrides, typed_length
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


@pytest.mark.parametrize(("seconds", "words"), [(90, "90 秒"), (300, "5 分钟"), (7200, "2 小时"), (259_200, "3 天")])
def test_a_length_of_time_is_typed_in_the_units_of_the_reader_s_language(seconds: float, words: str) -> None:
    with override("zh-hans"):
        assert typed_length(seconds) == words
        assert seconds_of(words) == seconds


def test_the_codes_of_units_are_read_in_every_language() -> None:
    with override("zh-hans"):
        assert seconds_of("5 min") == 300


def test_an_override_is_a_line_of_codes_in_every_language() -> None:
    rule = [{"group_pattern": "audit*", "threshold": 600.0, "for_seconds": 300.0}]
    with override("zh-hans"):
        assert lines_of_overrides(rule, Measure.TIME_LAG) == "audit*: threshold=10 min, for=5 min"
