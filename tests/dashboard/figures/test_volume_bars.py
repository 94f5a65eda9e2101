import json
from datetime import UTC, datetime, timedelta

import pytest

from dashboard.figures.layout import Change, Figure, Line
from dashboard.figures.time_lines import volume_bars

STEP = timedelta(minutes=1)
START = datetime(2026, 3, 14, 2, 0, tzinfo=UTC)
SILENT = "broker-b is silent"


def line(name: str, *values: float | None, reason: str | None = SILENT) -> Line:
    return Line(name, values, [reason if value is None else None for value in values])


def drawn(*lines: Line, step: timedelta = STEP) -> Figure:
    size = len(lines[0].values)
    starts = [START + i * step for i in range(size)]
    return volume_bars(starts, step, [(one, "var(--line)") for one in lines], [], until=START + size * step)


def trace(figure: Figure, name: str) -> Figure:
    return next(trace for trace in figure["data"] if trace["name"] == name)


def test_an_unknown_volume_draws_nothing_and_its_window_is_hatched_with_the_reason() -> None:
    figure = drawn(line("retried", 7, None, 9))
    assert trace(figure, "retried")["y"] == [7, None, 9]
    gap = trace(figure, "unknown")
    assert (gap["x"], gap["customdata"]) == (["2026-03-14 02:01:30"], [SILENT])
    assert gap["marker"]["pattern"]["shape"] == "/"


def test_nothing_is_hatched_where_all_is_known() -> None:
    assert trace(drawn(line("retried", 7, 0, 9)), "unknown")["x"] == []


@pytest.mark.parametrize(
    ("dead", "said"),
    [
        (line("dead", None), SILENT),
        (line("dead", None, reason="not recorded then"), f"retried: {SILENT}; dead: not recorded then"),
        (line("dead", None, reason=None), f"retried: {SILENT}; dead: no reason recorded"),
        (line("dead", 4), f"retried: {SILENT}"),
    ],
)
def test_a_window_says_which_volume_of_it_is_unknown_and_why(dead: Line, said: str) -> None:
    assert trace(drawn(line("retried", None), dead), "unknown")["customdata"] == [said]


def test_volumes_stand_one_upon_the_other_from_the_foot_up() -> None:
    figure = drawn(line("consumed", 90), line("retried", 7), line("dead", 1))
    assert [one["name"] for one in figure["data"]] == ["consumed", "retried", "dead", "unknown"]
    assert figure["layout"]["barmode"] == "stack"
    assert figure["layout"]["showlegend"] is True


def test_a_column_covers_its_window() -> None:
    bars = trace(drawn(line("retried", 7), step=timedelta(minutes=10)), "retried")
    assert (bars["x"], bars["width"]) == (["2026-03-14 02:05:00"], [600_000])


@pytest.mark.parametrize(("minutes", "title"), [(1, "in 1 min"), (10, "in 10 min"), (60, "in 1 h")])
def test_the_axis_says_what_time_a_column_is_of(minutes: int, title: str) -> None:
    axis = drawn(line("retried", 7), step=timedelta(minutes=minutes))["layout"]["yaxis"]
    assert axis["title"]["text"] == f"messages {title}"


@pytest.mark.parametrize(("values", "foot"), [((4, 5), {"range": [0, 10]}), ((4, 6), {"rangemode": "tozero"})])
def test_a_few_messages_fill_no_chart(values: tuple[int, int], foot: Figure) -> None:
    axis = drawn(*(line(str(i), value) for i, value in enumerate(values)))["layout"]["yaxis"]
    assert {name: axis.get(name) for name in foot} == foot


def test_it_marks_changes_of_state() -> None:
    change = Change(START + STEP, "STALL", "OK to STALL")
    figure = volume_bars([START], STEP, [(line("dead", 1), "var(--line)")], [change], until=START + STEP)
    assert figure["layout"]["annotations"][0]["text"] == "STALL"


def test_an_empty_history_is_still_a_figure_over_its_range_and_plain_json() -> None:
    figure = volume_bars([], STEP, [(line("dead"), "var(--line)")], [], until=START)
    assert figure["layout"]["xaxis"]["range"] == ["2026-03-14 01:59:00", "2026-03-14 02:00:00"]
    assert json.loads(json.dumps(figure, allow_nan=False)) == figure
