from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, strategies as st

from consumers.ownership.rows import Holding, Timeline, TimelineQueue, TimelineRun
from dashboard.figures.layout import Change, Figure, Span
from dashboard.figures.ownership_timeline import KINDS, OWNERS, colour_number, ownership_timeline

START = datetime(2026, 3, 14, 2, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
CLIENTS = ["10.0.0.7@3312", "10.0.0.8@3312"]


def a_run(cells: int, holding: str, *owners: int, reason: str | None = None) -> TimelineRun:
    return TimelineRun(cells, Holding(holding), owners, START, START + cells * MINUTE, reason)


def a_timeline(*rows: list[TimelineRun], why: str | None = None) -> Timeline:
    cells = sum(run.cells for run in rows[0]) if rows else 60
    queues = [TimelineQueue("Orders", "broker-a", number, runs) for number, runs in enumerate(rows)]
    return Timeline(START, START + cells * MINUTE, 60.0, cells, CLIENTS, queues, why)


def drawn(*rows: list[TimelineRun], **more: Any) -> Figure:
    timeline = more.pop("timeline", None) or a_timeline(*rows)
    return ownership_timeline(timeline, **{"changes": [], "since": START, "until": timeline.until} | more)


def trace(figure: Figure, name: str, mode: str = "lines") -> Figure:
    return next(trace for trace in figure["data"] if trace.get("name") == name and trace["mode"] == mode)


def named(figure: Figure) -> list[str]:
    return [trace["name"] for trace in figure["data"][1:]]


def runs(figure: Figure) -> list[list[tuple[int, int | None, str]]]:
    return [[tuple(run) for run in row] for row in figure["data"][0]["runs"]]


def test_every_owner_has_a_colour_and_says_who_and_when() -> None:
    [[(cells, first, text), (_cells, second, _text)]] = runs(drawn([a_run(3, "owner", 0), a_run(2, "owner", 1)]))
    assert (cells, text) == (3, "10.0.0.7@3312<br>02:00:00 to 02:03:00 UTC")
    assert first != second


def test_a_queue_without_an_owner_is_loud_by_colour_pattern_word_and_a_mark_above() -> None:
    figure = drawn([a_run(5, "owner", 0), a_run(5, "nobody")], [a_run(10, "owner", 1)])
    assert runs(figure)[0][1][1] == KINDS.index(Holding.NOBODY) + 1
    box = trace(figure, "nobody")
    assert box["fillpattern"]["shape"] == "x"
    assert box["x"][:2] == ["2026-03-14 02:05:00", "2026-03-14 02:10:00"]
    assert box["y"][:4] == [-0.5, -0.5, 0.5, 0.5]
    assert "no owner" in [mark["text"] for mark in figure["layout"]["annotations"]]
    mark = trace(figure, "nobody", "markers")
    assert mark["x"] == ["2026-03-14 02:07:30"]
    assert mark["customdata"] == ["1 queue had no owner<br>within 02:05:00 to 02:10:00 UTC"]


def test_a_queue_with_several_owners_names_them_and_has_another_pattern_and_mark() -> None:
    figure = drawn([a_run(5, "several", 0, 1), a_run(5, "owner", 1)])
    assert runs(figure)[0][0][2] == "several owners: 10.0.0.7@3312, 10.0.0.8@3312<br>02:00:00 to 02:05:00 UTC"
    assert trace(figure, "several")["fillpattern"]["shape"] == "."
    assert trace(figure, "several", "markers")["marker"]["symbol"] == "square"
    assert "nobody" not in named(figure)


def test_marks_count_the_queues_that_were_so_at_once() -> None:
    rows = [[a_run(2, "owner", 0), a_run(4, "nobody")], [a_run(4, "owner", 0), a_run(2, "nobody")]]
    mark = trace(drawn(*rows), "nobody", "markers")
    assert mark["customdata"] == ["up to 2 queues had no owner<br>within 02:02:00 to 02:06:00 UTC"]


def test_a_mark_counts_no_further_than_the_gap_lasts() -> None:
    mark = trace(drawn([a_run(2, "nobody"), a_run(4, "owner", 0), a_run(2, "nobody")]), "nobody", "markers")
    assert mark["x"] == ["2026-03-14 02:01:00", "2026-03-14 02:07:00"]


def test_what_is_unknown_has_no_value_is_hatched_and_says_why() -> None:
    figure = drawn([a_run(4, "owner", 0), a_run(2, "unknown", reason="no reading")])
    assert runs(figure)[0][1] == (2, None, "unknown: no reading")
    assert trace(figure, "unknown: no reading")["fillpattern"]["shape"] == "/"
    assert "nobody" not in named(figure)


def test_between_two_answers_it_claims_neither_owner_nor_gap() -> None:
    figure = drawn([a_run(4, "owner", 0), a_run(1, "changed", 0, 1), a_run(3, "owner", 1)])
    assert runs(figure)[0][1][2].startswith("reassigned: 10.0.0.7@3312, 10.0.0.8@3312<br>between 02:00:00 and")
    assert "nobody" not in named(figure)


def test_a_quiet_group_has_neither_patterns_nor_marks() -> None:
    figure = drawn([a_run(9, "owner", 0)], [a_run(9, "owner", 1)])
    assert len(figure["data"]) == 1
    assert figure["layout"]["annotations"] == []


def test_equal_gaps_of_neighbouring_queues_are_one_box() -> None:
    gap = [a_run(2, "owner", 0), a_run(2, "nobody")]
    box = trace(drawn(gap, gap, gap, [a_run(4, "owner", 0)], gap), "nobody")
    assert box["x"].count(None) == 2
    assert sorted({y for y in box["y"] if y is not None}) == [-0.5, 2.5, 3.5, 4.5]


def test_many_owners_share_colours_but_neighbours_never() -> None:
    numbers = [colour_number(owner) for owner in range(100)]
    assert set(numbers) == set(range(1, OWNERS + 1))
    assert all(left != right for left, right in pairwise(numbers))


def test_it_lies_on_the_time_axis_with_the_changes_of_state() -> None:
    change = Change(START + 2 * MINUTE, "STALL", "blocked")
    figure = drawn([a_run(9, "owner", 0)], changes=[change])
    assert figure["layout"]["xaxis"]["range"] == ["2026-03-14 02:00:00", "2026-03-14 02:09:00"]
    assert [mark["text"] for mark in figure["layout"]["annotations"]] == ["STALL"]


def test_rebalances_stand_in_a_lane_for_as_long_as_they_go_on_and_tell_on_hover() -> None:
    span = Span(START - MINUTE, START + MINUTE, "billing: joined")
    gone = Span(START - 9 * MINUTE, START - 8 * MINUTE, "billing: left")
    lane = trace(drawn([a_run(9, "owner", 0)], spans=[span, gone]), "rebalances", "lines+text")
    assert lane["x"] == ["2026-03-14 02:00:00", "2026-03-14 02:01:00", None]
    assert lane["text"] == ["⇄", "", ""]
    assert lane["customdata"] == ["billing: joined"] * 3


def test_its_axis_is_that_of_the_figures_beside_it() -> None:
    figure = drawn([a_run(9, "owner", 0)], since=START + MINUTE, until=START + 8 * MINUTE)
    assert figure["layout"]["xaxis"]["range"] == ["2026-03-14 02:01:00", "2026-03-14 02:08:00"]


def test_the_moment_of_the_tables_is_a_line() -> None:
    figure = drawn([a_run(9, "owner", 0)], at=START + 4 * MINUTE)
    assert [shape["x0"] for shape in figure["layout"]["shapes"]] == ["2026-03-14 02:04:00"]


def test_without_queues_it_says_why() -> None:
    figure = drawn(timeline=a_timeline(why="every member owns every queue"))
    assert [mark["text"] for mark in figure["layout"]["annotations"]] == ["every member owns every queue"]


RUNS = st.lists(st.tuples(st.integers(1, 5), st.sampled_from(list(Holding))), min_size=1, max_size=12)


def covered(box: Figure) -> Iterator[tuple[str, float]]:
    """The cells under a trace's rectangles."""
    for i in range(0, len(box["x"]), 6):
        left, right = (datetime.fromisoformat(x) for x in box["x"][i : i + 2])
        top, bottom = box["y"][i], box["y"][i + 2]
        yield from (
            (str(left + cell * MINUTE), top + 0.5 + row)
            for cell in range(int((right - left) / MINUTE))
            for row in range(int(bottom - top))
        )


@given(st.lists(RUNS, min_size=1, max_size=6))
def test_each_kind_is_under_its_own_pattern_cell_by_cell(rows: list[list[tuple[int, Holding]]]) -> None:
    cells = max(sum(n for n, _holding in row) for row in rows)
    padded = [[*row, (cells + 1 - sum(n for n, _h in row), Holding.OWNER)] for row in rows]
    figure = drawn(*([a_run(n, holding, 0, reason="late") for n, holding in row] for row in padded))
    for holding, name in ((Holding.NOBODY, "nobody"), (Holding.SEVERAL, "several"), (Holding.UNKNOWN, "unknown: late")):
        there = {
            (f"{START.replace(tzinfo=None) + cell * MINUTE}", float(number))
            for number, row in enumerate(padded)
            for cell, kind in enumerate(kind for n, kind in row for _cell in range(n))
            if kind is holding
        }
        boxes = [trace for trace in figure["data"] if trace.get("name") == name and trace["mode"] == "lines"]
        under = [cell for box in boxes for cell in covered(box)]
        assert set(under) == there
        assert len(under) == len(there)


@pytest.mark.parametrize("queues", [1, 30, 60, 400, 1000])
def test_labels_never_stand_closer_than_they_are_high(queues: int) -> None:
    figure = drawn(*([a_run(1, "owner", 0)] for _queue in range(queues)))
    axis, layout = figure["layout"]["yaxis"], figure["layout"]
    pixels = (layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]) * axis["domain"][1] / queues
    gaps = [right - left for left, right in pairwise(axis["tickvals"])]
    assert min(gaps, default=99) * pixels >= 13.9
    assert layout["height"] <= 1400
