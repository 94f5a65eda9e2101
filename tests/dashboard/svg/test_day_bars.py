import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from django.utils.translation import override

from dashboard.figures.fired_bars import DayBar, day_bars

UNTIL = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def a_day(ago: int = 0, count: int = 0, *, apart: int = 0, unknown: float | None = 0.0, text: str = "day") -> DayBar:
    return DayBar((UNTIL - ago * DAY).date(), count, apart, unknown, text)


def drawn(*bars: DayBar, days: float = 2) -> str:
    return day_bars(bars, UNTIL - days * DAY, UNTIL, "By day")


def bars_of(drawing: str, kind: str) -> list[tuple[float, ...]]:
    """x, width, y, height of each."""
    places = re.findall(rf'<rect class="{kind}" x="(.*?)%" width="(.*?)%" y="(.*?)" height="(.*?)"', drawing)
    return [tuple(map(float, place)) for place in places]


def test_bars_are_as_high_as_what_they_count() -> None:
    drawing = drawn(a_day(2, 1), a_day(1, 4), a_day(0, 2))
    assert [high for *_, high in bars_of(drawing, "fired")] == [16, 64, 32]
    assert re.findall(r'class="count".*?>(\d+)<', drawing) == ["1", "4", "2"]


def test_a_day_lies_where_the_range_has_it() -> None:
    drawing = drawn(a_day(2, 1), a_day(1, 1), a_day(0, 1))
    # Noon to noon of two days: half a day, a day, half a day.
    assert [(x, wide) for x, wide, *_ in bars_of(drawing, "fired")] == [(1.15, 24.2), (25.65, 48.7), (74.65, 24.2)]


def test_what_is_left_alone_is_drawn_hollow() -> None:
    drawing = drawn(a_day(1, 4, apart=1))
    assert [high for *_, high in bars_of(drawing, "fired")] == [48]
    assert [(y, high) for *_, y, high in bars_of(drawing, "fired apart")] == [(62, 16)]


def test_what_is_not_known_is_hatched_by_its_share() -> None:
    assert 'y="46.0" height="32.0" fill="url(#hatch)"' in drawn(a_day(1, unknown=0.5))
    assert "hatch" not in drawn(a_day(1), a_day(0, unknown=None))


def test_a_day_without_any_has_no_bar_and_no_number() -> None:
    drawing = drawn(a_day(1))
    assert bars_of(drawing, "fired") == []
    assert "count" not in drawing


def test_few_beside_many_are_still_seen() -> None:
    assert min(high for *_, high in bars_of(drawn(a_day(1, 1000), a_day(0, 1)), "fired")) == 3


def test_names_of_many_days_do_not_cover_each_other() -> None:
    drawing = drawn(*(a_day(ago, 1) for ago in range(90, -1, -1)), days=90)
    named = [float(x) for x in re.findall(r'<text x="(.*?)%"', drawing.split('class="axis"')[1])]
    assert 6 <= len(named) <= 9
    assert min(later - first for first, later in pairwise(named)) >= 11


def test_it_escapes_what_it_tells() -> None:
    assert "<title>&lt;b&gt;</title>" in drawn(a_day(1, 1, text="<b>"))


def test_a_day_is_named_as_its_reader_names_days() -> None:
    names = {}
    for language in ("en", "zh-hans"):
        with override(language):
            names[language] = re.findall(r'text-anchor="middle">([^<]*\d日?)</text>', drawn(a_day(1), a_day()))
    assert names == {"en": ["Fri 13", "Sat 14"], "zh-hans": ["3月13日", "3月14日"]}
