import pytest

from dashboard.wording.numbers import count, duration, share, size


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
    ],
)
def test_it_writes_a_duration_with_the_digits_that_matter(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_it_never_writes_a_short_duration_as_zero() -> None:
    assert duration(0.004) == "0.004 s"


@pytest.mark.parametrize(("octets", "text"), [(0, "0 B"), (999, "999 B"), (1900, "1.9 kB"), (1_900_000, "1.9 MB")])
def test_it_writes_bytes_in_decimal_units(octets: int, text: str) -> None:
    assert size(octets) == text


@pytest.mark.parametrize(("part", "text"), [(1.0, "100 %"), (0.9999, "99.9 %"), (0.5, "50 %"), (0.004, "0.4 %")])
def test_it_never_writes_a_part_as_the_whole(part: float, text: str) -> None:
    assert share(part) == text


def test_it_separates_thousands() -> None:
    assert count(1204331) == "1,204,331"
