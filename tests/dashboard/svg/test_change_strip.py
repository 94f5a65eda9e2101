import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from dashboard.figures.time_bars import EDGE, Mark, axis, change_strip

NOW = datetime(2026, 3, 14, 3, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def strip(*marks: Mark) -> str:
    return change_strip(marks, NOW - HOUR, NOW, "changes")


def mark(minutes_ago: float, state: str = "STALL", text: str = "billing: OK to STALL") -> Mark:
    return Mark(NOW - timedelta(minutes=minutes_ago), state, text, "/groups/prod/billing/")


def test_each_mark_leads_to_its_place_and_tells_on_hover() -> None:
    drawing = strip(mark(30))
    assert '<a href="/groups/prod/billing/"' in drawing
    assert "<title>billing: OK to STALL</title>" in drawing


def test_a_mark_stands_at_its_time() -> None:
    assert '<svg x="50.00%"' in strip(mark(30))


def test_the_ends_of_the_axis_are_inside_the_drawing() -> None:
    assert re.findall(r'<svg x="([\d.]+)%"', strip(mark(60), mark(0))) == [f"{EDGE:.2f}", f"{100 - EDGE:.2f}"]


def test_it_leaves_out_what_lies_outside_its_range() -> None:
    assert "<a " not in strip(mark(61))


def test_marks_that_would_cover_each_other_stand_in_lanes() -> None:
    assert len(set(re.findall(r'%" y="(\d+)" overflow', strip(mark(30), mark(29.9))))) == 2


def test_it_escapes_what_it_tells() -> None:
    assert "<script>" not in strip(mark(30, text="<script>"))


def test_the_axis_has_round_times() -> None:
    assert re.findall(r"middle\">([^<]*)<", strip()) == ["02:10", "02:20", "02:30", "02:40", "02:50"]


@pytest.mark.parametrize("days", [30, 90, 365])
def test_the_axis_of_months_has_a_few_dates(days: int) -> None:
    named = re.findall(r">(\d+ [A-Z][a-z]{2})</text>", axis(NOW - timedelta(days=days), NOW, 20))
    assert 3 <= len(named) <= 8


def test_a_mark_of_several_has_their_count_beside_it() -> None:
    one = mark(30)
    assert '<text class="count" x="9" y="4" text-anchor="start">×2</text>' in strip(replace(one, parts=(one, one)))


def test_a_count_at_the_right_end_stands_on_the_left() -> None:
    one = mark(1)
    assert 'x="-9" y="4" text-anchor="end">×2<' in strip(replace(one, parts=(one, one)))
