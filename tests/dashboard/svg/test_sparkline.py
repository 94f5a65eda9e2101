import re
from itertools import pairwise

from hypothesis import given, strategies as st

from dashboard.figures.time_bars import HEIGHT, PAD, WIDTH, sparkline

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


@given(st.lists(st.none() | st.integers(0, 10**12) | st.just(7), min_size=1, max_size=80))
def test_its_lines_pass_through_every_known_value_and_no_other(values: list[int | None]) -> None:
    drawing = sparkline(values, "lag")
    known = [value for value in values if value is not None]
    step = (WIDTH - 2 * PAD) / max(1, len(values) - 1)
    lines = [
        [tuple(map(float, point.split(","))) for point in points.split()]
        for points in re.findall(r'points="([^"]*)"', drawing)
    ]
    singles = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([^"]*)" cy="([^"]*)"', drawing)]
    for i, value in enumerate(values):
        x = PAD + i * step
        drawn = [height for line in lines for height in _heights(line, x)]
        drawn += [y for at, y in singles if abs(at - x) < step / 2 or len(values) == 1]
        if value is None:
            assert drawn == []
        else:
            y = HEIGHT - PAD - (HEIGHT - 2 * PAD) * value / (max(known) or 1)
            assert min(abs(one - y) for one in drawn) < 0.2


def _heights(line: list[tuple[float, ...]], x: float) -> list[float]:
    """Where the line is at x, which points stand 0.1 off at most."""
    found = []
    for (x0, y0), (x1, y1) in pairwise(line):
        if x0 - 0.1 <= x <= x1 + 0.1:
            found += [y0 + (y1 - y0) * min(max((x - x0) / (x1 - x0), 0), 1)]
    return found


@given(st.lists(st.none() | st.integers(0, 10**12), min_size=1, max_size=80))
def test_every_point_stays_inside_the_drawing(values: list[int | None]) -> None:
    points = " ".join(re.findall(r'points="([^"]*)"', sparkline(values, "lag"))).split()
    assert all(PAD <= float(point.split(",")[1]) <= HEIGHT - PAD for point in points)
