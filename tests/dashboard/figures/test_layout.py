"""Rebalances on the time axis of every figure: a faint band, and a sign that tells on hover."""

from datetime import UTC, datetime, timedelta

import pytest

from dashboard.figures.layout import BAR, Change, Figure, Span, figure

SINCE = datetime(2026, 3, 14, 2, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def marked(first: int, last: int) -> Figure:
    """From the one minute to the other of an axis of an hour."""
    span = Span(SINCE + first * MINUTE, SINCE + last * MINUTE, "a member joined")
    layout: Figure = figure([], SINCE, SINCE + 60 * MINUTE, [], [span])["layout"]
    return layout


def test_a_rebalance_is_a_bar_at_the_foot_over_its_time_with_a_sign_that_tells() -> None:
    layout = marked(10, 12)
    [bar, _band], [sign] = layout["shapes"], layout["annotations"]
    assert (bar["x0"], bar["x1"]) == ("2026-03-14 02:10:00", "2026-03-14 02:12:00")
    assert (bar["y0"], bar["y1"]) == (0, BAR)
    assert (sign["x"], sign["hovertext"]) == ("2026-03-14 02:11:00", "a member joined")


def test_its_band_stands_behind_what_the_figure_shows() -> None:
    bar, band = marked(10, 12)["shapes"]
    assert (band["layer"], band["y1"]) == ("below", 1)
    assert (band["x0"], band["x1"]) == (bar["x0"], bar["x1"])


@pytest.mark.parametrize(
    ("first", "last", "ends", "sign"),
    [(-5, 4, ("02:00:00", "02:04:00"), "02:02:00"), (58, 70, ("02:58:00", "03:00:00"), "02:59:00")],
)
def test_it_is_cut_at_the_ends_of_the_axis(first: int, last: int, ends: tuple[str, str], sign: str) -> None:
    layout = marked(first, last)
    assert (layout["shapes"][0]["x0"][11:], layout["shapes"][0]["x1"][11:]) == ends
    assert layout["annotations"][0]["x"][11:] == sign


@pytest.mark.parametrize(("first", "last"), [(-9, -5), (61, 62)])
def test_one_outside_the_axis_is_not_drawn(first: int, last: int) -> None:
    layout = marked(first, last)
    assert layout["shapes"] == layout["annotations"] == []


@pytest.mark.parametrize(("minutes", "anchor"), [(1, "left"), (30, "center"), (59, "right")])
def test_the_word_of_a_state_near_an_end_of_the_axis_is_held_inside(minutes: int, anchor: str) -> None:
    change = Change(SINCE + minutes * MINUTE, "RECREATED", "a topic was recreated")
    [word] = figure([], SINCE, SINCE + 60 * MINUTE, [change])["layout"]["annotations"]
    assert (word["text"], word["xanchor"]) == ("RECREATED", anchor)
