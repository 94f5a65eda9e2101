import re

from hypothesis import given, strategies as st

from dashboard.figures.shapes import HEIGHT, PAD, sparkline

FOOT = f"{HEIGHT - PAD:.1f}"


def test_it_draws_a_gap_instead_of_a_point_where_the_value_is_unknown() -> None:
    drawing = sparkline([5, 5, None, 5, 5], "lag")
    assert drawing.count("<polyline") == 2
    assert drawing.count('fill="url(#hatch)"') == 1
    assert f",{FOOT}" not in drawing


def test_it_draws_zero_at_the_foot() -> None:
    assert f",{FOOT}" in sparkline([0, 0], "lag")


def test_it_shows_a_single_known_value_between_two_gaps() -> None:
    assert "<circle" in sparkline([None, 3, None], "lag")


def test_it_hatches_all_of_a_line_of_which_nothing_is_known() -> None:
    drawing = sparkline([None], "lag")
    assert 'width="96.0"' in drawing
    assert "<polyline" not in drawing


def test_it_says_in_words_what_is_drawn_and_escapes_it() -> None:
    assert 'aria-label="lag of &lt;a&gt;"' in sparkline([1], "lag of <a>")


@given(st.lists(st.none() | st.integers(0, 10**12), min_size=1, max_size=80))
def test_it_draws_exactly_as_many_points_as_are_known(values: list[int | None]) -> None:
    drawing = sparkline(values, "lag")
    lines = sum(len(points.split()) for points in re.findall(r'points="([^"]*)"', drawing))
    assert lines + drawing.count("<circle") == sum(value is not None for value in values)


@given(st.lists(st.none() | st.integers(0, 10**12), min_size=1, max_size=80))
def test_every_point_stays_inside_the_drawing(values: list[int | None]) -> None:
    points = " ".join(re.findall(r'points="([^"]*)"', sparkline(values, "lag"))).split()
    assert all(PAD <= float(point.split(",")[1]) <= HEIGHT - PAD for point in points)
