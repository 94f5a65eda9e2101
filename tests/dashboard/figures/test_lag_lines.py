import json
from datetime import UTC, datetime, timedelta

from dashboard.figures.layout import Change, Figure, Line
from dashboard.figures.time_lines import Scale, lag_lines, time_lines

STEP = timedelta(minutes=1)
START = datetime(2026, 3, 14, 2, 0, tzinfo=UTC)


def starts(n: int) -> list[datetime]:
    return [START + i * STEP for i in range(n)]


def drawn(values: list[float | None], reasons: list[str | None] | None = None, *parts: Line) -> Figure:
    total = Line("total", values, reasons or [None] * len(values))
    return lag_lines(starts(len(values)), STEP, total, parts, [], until=START + len(values) * STEP)


def trace(figure: Figure, name: str) -> Figure:
    return next(trace for trace in figure["data"] if trace["name"] == name)


def test_a_line_has_a_gap_where_lag_is_unknown() -> None:
    line = trace(drawn([7, None, 9], [None, "broker-b is silent", None]), "total")
    assert line["y"] == [7, None, 9]
    assert line["connectgaps"] is False


def test_the_gap_is_hatched_and_says_why() -> None:
    gap = trace(drawn([7, None, 9], [None, "broker-b is silent", None]), "unknown")
    assert gap["x"] == ["2026-03-14 02:01:30"]
    assert gap["customdata"] == ["broker-b is silent"]
    assert gap["marker"]["pattern"]["shape"] == "/"


def test_nothing_is_hatched_where_all_is_known() -> None:
    assert trace(drawn([7, 0, 9]), "unknown")["x"] == []


def test_a_value_stands_at_the_end_of_its_window() -> None:
    assert trace(drawn([7]), "total")["x0"] == "2026-03-14 02:01:00"


def test_times_of_a_line_are_its_first_and_the_milliseconds_between_two() -> None:
    total = trace(drawn([7] * 60), "total")
    assert (total["dx"], "x" in total) == (60_000, False)


def test_a_single_known_value_between_gaps_gets_a_marker() -> None:
    assert trace(drawn([None, 4, None]), "total")["mode"] == "lines+markers"


def test_each_part_is_a_line_of_its_own() -> None:
    figure = drawn([7, 8], None, Line("Orders", [3, 4], [None, None]), Line("Stock", [4, None], [None, "late"]))
    assert trace(figure, "Stock")["y"] == [4, None]
    assert figure["layout"]["showlegend"] is True


def test_changes_of_state_are_marks_on_the_time_axis() -> None:
    change = Change(START + STEP, "STALL", "OK to STALL")
    total = Line("total", [1, 2], [None, None])
    layout = lag_lines(starts(2), STEP, total, [], [change], until=START + 2 * STEP)["layout"]
    assert layout["shapes"][0]["x0"] == "2026-03-14 02:01:00"
    assert layout["annotations"][0]["text"] == "STALL"


def test_an_empty_history_is_still_a_figure_over_its_range() -> None:
    assert drawn([])["layout"]["xaxis"]["range"] == ["2026-03-14 01:59:00", "2026-03-14 02:00:00"]


def test_it_draws_with_svg_only_and_is_plain_json() -> None:
    figure = drawn([7, None, 9])
    assert {trace["type"] for trace in figure["data"]} == {"scatter", "bar"}
    assert json.loads(json.dumps(figure, allow_nan=False)) == figure


def test_an_axis_of_messages_has_whole_numbers_where_nothing_is_known_yet() -> None:
    line = Line("lag", [None], ["not evaluated yet"])
    figure = time_lines(starts(1), STEP, [(line, "black")], Scale("messages", "messages"), [], until=START + STEP)
    axis = figure["layout"]["yaxis"]
    assert (axis["range"], axis["dtick"]) == ([0, 10], 2)
