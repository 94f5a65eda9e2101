"""Who held each queue before and after: one pair of cells a queue, what moved told from what stayed."""

import re

import pytest

from dashboard.figures.offset_bars import PER_LINE, QueueEnds, before_after, colour_places

COLOURS = {"a@1": 1, "b@1": 2}


def paths(*queues: QueueEnds) -> dict[tuple[str, str], int]:
    """By classes and hover: how many cells."""
    found = re.findall(r'<path class="([^"]+)"[^>]* d="([^"]+)"><title>([^<]*)<', before_after(queues, COLOURS, "x"))
    return {(classes, title): steps.count("z") or steps.count("M") // 2 for classes, steps, title in found}


def test_a_queue_that_moved_has_the_old_owner_above_the_new_one() -> None:
    drawn = before_after([QueueEnds("broker-a", 0, ("a@1",), ("b@1",), False)], COLOURS, "x")
    tops = dict(re.findall(r'class="(owner-\d) moved" d="M0 (\d+)h', drawn))
    assert int(tops["owner-1"]) < int(tops["owner-2"])


@pytest.mark.parametrize(
    ("before", "after", "stayed", "cells"),
    [
        (("a@1",), ("a@1",), True, {("owner-1 stayed", "a@1"): 2}),
        (
            ("a@1",),
            (),
            False,
            {("owner-1 moved", "a@1"): 1, ("nobody moved", "no owner"): 1, ("cross moved", "no owner"): 1},
        ),
        (("a@1",), ("a@1", "b@1"), False, {("owner-1 moved", "a@1"): 1, ("several moved", "a@1, b@1"): 1}),
        (None, ("b@1",), None, {("unknown unsure", "unknown"): 1, ("owner-2 unsure", "b@1"): 1}),
    ],
)
def test_a_cell_says_who_held_the_queue(
    before: tuple[str, ...] | None,
    after: tuple[str, ...] | None,
    stayed: bool | None,
    cells: dict[tuple[str, str], int],
) -> None:
    assert paths(QueueEnds("broker-a", 0, before, after, stayed)) == cells


def test_what_is_not_known_is_hatched() -> None:
    assert 'fill="url(#hatch)"' in before_after([QueueEnds("broker-a", 0, None, ("a@1",), None)], COLOURS, "x")


def test_each_broker_begins_a_line_of_its_own() -> None:
    queues = [QueueEnds(broker, 0, ("a@1",), ("a@1",), True) for broker in ("broker-b", "broker-a")]
    assert re.findall(r"<text[^>]*>([^<]+)<", before_after(queues, COLOURS, "x")) == ["broker-a", "broker-b"]


def test_a_thousand_queues_weigh_little_and_break_into_lines() -> None:
    queues = [QueueEnds("broker-a", number, ("a@1",), ("b@1",), False) for number in range(1000)]
    drawn = before_after(queues, COLOURS, "x")
    assert len(drawn) < 50_000
    assert len(set(re.findall(r"M0 (\d+)h", drawn))) == 2 * -(-1000 // PER_LINE)


def test_beyond_twelve_owners_colours_come_again() -> None:
    places = colour_places([f"client-{number:02}" for number in range(14)])
    assert (places["client-00"], places["client-11"], places["client-12"]) == (1, 12, 1)


def test_what_moved_is_drawn_above_what_stayed() -> None:
    stayed, moved = QueueEnds("broker-a", 1, ("b@1",), ("b@1",), True), QueueEnds("broker-a", 0, ("a@1",), (), False)
    drawn = re.findall(r'class="[\w-]+ (moved|stayed)"', before_after([moved, stayed], COLOURS, "x"))
    assert drawn == ["stayed", "moved", "moved", "moved"]
