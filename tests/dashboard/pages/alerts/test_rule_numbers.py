"""Numbers of rules as people type them, and as they are shown again."""

import pytest
from hypothesis import given, strategies as st

from consumers.models import Measure
from dashboard.pages.alerts.typed_values import WrongNumber, length_of, number_of, typed_length, typed_number

ANY = st.sampled_from(["lag_messages", "time_lag_seconds", "retry_share", "members"])


@pytest.mark.parametrize(
    ("text", "measure", "number"),
    [
        ("1,000", "lag_messages", 1000),
        ("1.5", "members", 1.5),
        ("5 min", "time_lag_seconds", 300),
        ("90", "time_lag_seconds", 90),
        ("10 %", "retry_share", 0.1),
        ("0.1", "retry_share", 0.1),
        (" ", "lag_messages", None),
    ],
)
def test_it_reads_a_number_in_the_unit_of_its_measure(text, measure, number):
    assert number_of(text, Measure(measure)) == number


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("5 min", "lag_messages"),
        ("10 %", "lag_messages"),
        ("-1", "lag_messages"),
        ("²", "lag_messages"),
        ("x", "retry_share"),
        ("5 weeks", "time_lag_seconds"),
    ],
)
def test_it_refuses_what_is_none(text, measure):
    with pytest.raises(WrongNumber, match="Write a"):
        number_of(text, Measure(measure))


@pytest.mark.parametrize(
    ("seconds", "typed"),
    [(0, "0 s"), (90, "90 s"), (300, "5 min"), (5400, "90 min"), (7200, "2 h"), (86400, "1 d"), (0.5, "0.5 s")],
)
def test_it_types_a_length_in_the_widest_unit_that_has_it_whole(seconds, typed):
    assert (typed_length(seconds), length_of(typed)) == (typed, seconds)


@given(ANY, st.integers(0, 10**8))
def test_what_it_types_it_reads(measure, number):
    typed = typed_number(float(number), Measure(measure))
    assert number_of(typed, Measure(measure)) == pytest.approx(number)
