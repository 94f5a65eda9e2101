import pytest

from dashboard.wording.numbers import again, difference


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (12, 40, "12 to 40"),
        (1200, 40000, "1,200 to 40,000"),
        (30, 30, "30"),
        (0, 0, "0"),
        (12, None, "≥ 12"),
        (None, 40, "≤ 40"),
        (None, None, None),
    ],
)
def test_two_bounds_read_as_one_phrase(low, high, words):
    assert again(low, high) == words


@pytest.mark.parametrize(
    ("offset", "base", "words"),
    [(112, 100, "+12"), (90, 100, "−10"), (100, 100, ""), (None, 100, ""), (100, None, "")],
)
def test_a_difference_has_a_sign_and_no_difference_has_no_words(offset, base, words):
    assert difference(offset, base) == words
