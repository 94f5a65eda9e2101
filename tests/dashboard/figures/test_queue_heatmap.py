from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from dashboard.figures.layout import Figure, Line
from dashboard.figures.queue_heatmap import queue_heatmap

STEP = timedelta(minutes=1)
START = datetime(2026, 3, 14, 2, 0, tzinfo=UTC)


def drawn(*queues: Line) -> Figure:
    n = len(queues[0].values)
    return queue_heatmap([START + i * STEP for i in range(n)], STEP, queues, [], until=START + n * STEP)


def hatched(figure: Figure) -> dict[str, Figure]:
    return {trace["name"]: trace for trace in figure["data"] if trace["type"] == "scatter"}


def test_an_unknown_cell_has_no_value() -> None:
    assert drawn(Line("Orders/0", [5, None], [None, "late"]))["data"][0]["z"] == [[5, None]]


def test_the_name_of_a_queue_is_sent_once_for_all_its_cells() -> None:
    heat = drawn(Line("Orders / broker-a / 0", [5] * 60, [None] * 60))["data"][0]
    assert heat["names"] == ["Orders / broker-a / 0"]
    assert "customdata" not in heat


def test_an_unknown_cell_is_hatched_over_its_window_and_names_its_cause() -> None:
    box = hatched(drawn(Line("Orders/0", [5, None], [None, "broker-b is silent"])))["unknown: broker-b is silent"]
    assert box["x"][:2] == ["2026-03-14 02:01:00", "2026-03-14 02:02:00"]
    assert box["y"][:4] == [-0.5, -0.5, 0.5, 0.5]


def test_a_lag_of_zero_is_drawn_and_not_hatched() -> None:
    figure = drawn(Line("Orders/0", [0, 0], [None, None]))
    assert figure["data"][0]["z"] == [[0, 0]]
    assert hatched(figure) == {}


def test_the_first_queue_stands_at_the_top() -> None:
    axis = drawn(Line("a", [1], [None]), Line("b", [2], [None]))["layout"]["yaxis"]
    assert axis["range"][0] > axis["range"][1]
    assert axis["ticktext"] == ["a", "b"]


def test_neighbouring_unknown_windows_are_one_box() -> None:
    figure = drawn(Line("a", [None, None, 3], ["late", "late", None]))
    assert hatched(figure)["unknown: late"]["x"].count(None) == 1


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([None, None], "no queue has a known lag in this range"),
        ([0, None], "0 messages"),
        ([7, 3], "0 to 7 messages"),
    ],
)
def test_its_scale_ends_at_what_is_known(values: list[int | None], scale: str) -> None:
    texts = [mark["text"] for mark in drawn(Line("a", values, ["late", "late"]))["layout"]["annotations"]]
    assert texts[-1] == scale


@pytest.mark.parametrize(
    ("values", "colours"), [([None], []), ([0], []), ([7], [f"var(--heat-{i})" for i in range(5)])]
)
def test_its_scale_shows_the_colours_from_none_to_most(values: list[int | None], colours: list[str]) -> None:
    shapes = drawn(Line("a", values, ["late"]))["layout"]["shapes"]
    bar = sorted((one for one in shapes if one.get("xsizemode") == "pixel"), key=lambda one: one["x0"])
    assert [one["fillcolor"] for one in bar] == colours


@pytest.mark.parametrize("queues", [1, 40])
def test_it_grows_with_its_queues(queues: int) -> None:
    figure = drawn(*(Line(f"q{i}", [1], [None]) for i in range(queues)))
    assert figure["layout"]["height"] >= 14 * queues


@given(st.lists(st.none() | st.integers(0, 9), min_size=1, max_size=30))
def test_every_unknown_cell_is_under_a_hatch(values: list[int | None]) -> None:
    reasons = ["late" if value is None else None for value in values]
    boxes = hatched(drawn(Line("a", values, reasons))).values()
    minutes = 0.0
    for box in boxes:
        times = [datetime.fromisoformat(x) for x in box["x"] if x is not None]
        minutes += sum((times[i + 1] - times[i]) / STEP for i in range(0, len(times), 5))
    assert minutes == values.count(None)
