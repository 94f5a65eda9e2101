"""Marks that coincide: one mark for each cause."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from dashboard.figures.merged_marks import merged
from dashboard.figures.time_bars import Mark

NOW = datetime(2026, 3, 14, 3, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def mark(seconds_ago: float, group: str, cause: str = "STOP: no members", state: str = "STOP") -> Mark:
    return Mark(NOW - timedelta(seconds=seconds_ago), state, f"{group}: {cause}", f"/groups/prod/{group}/", cause)


def said(some: Sequence[Mark]) -> str:
    return f"{len(some)} × {some[0].cause}"


def found(*marks: Mark, span: timedelta = HOUR) -> list[Mark]:
    return merged(marks, NOW - span, NOW, said)


def test_fifty_groups_that_stop_in_one_minute_are_one_mark_that_lists_them() -> None:
    [one] = found(*(mark(1199 - number, f"group-{number}") for number in range(50)))
    assert (one.at, one.text, one.href) == (NOW - timedelta(seconds=1199), "50 × STOP: no members", f"#{one.anchor}")
    assert [part.href for part in one.parts[:2]] == ["/groups/prod/group-49/", "/groups/prod/group-48/"]


def test_marks_of_other_causes_stay_apart() -> None:
    assert len(found(mark(1190, "a"), mark(1190, "b", "STALL: blocked", "STALL"))) == 2


def test_marks_of_other_minutes_stay_apart() -> None:
    assert [one.parts for one in found(mark(1190, "a"), mark(1130, "b"))] == [(), ()]


def test_marks_that_would_cover_each_other_on_a_long_axis_are_one() -> None:
    assert len(found(mark(1190, "a"), mark(1130, "b"), span=timedelta(days=7))) == 1


def test_a_mark_without_a_cause_is_merged_with_none() -> None:
    assert len(found(mark(1190, "a", ""), mark(1190, "b", ""))) == 2


def test_a_list_keeps_its_place_while_the_range_moves_on() -> None:
    marks = [mark(1190, "a"), mark(1188, "b")]
    later = merged(marks, NOW - HOUR + timedelta(seconds=5), NOW + timedelta(seconds=5), said)
    assert [one.anchor for one in later] == [one.anchor for one in found(*marks)]


def test_what_lies_outside_the_range_counts_for_none() -> None:
    assert found(mark(3601, "a"), mark(-1, "b")) == []
