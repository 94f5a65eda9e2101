import re

import pytest

from dashboard.figures.offset_bars import stores_bar


def boxes(svg: str) -> dict[str, tuple[float, float]]:
    """Left edge and width of every part, by its class."""
    found = re.findall(r'<rect class="([\w ]+)" x="([\d.-]+)"(?: y="4")? width="([\d.]+)"', svg)
    return {name: (float(left), float(width)) for name, left, width in found}


def test_the_stores_stand_in_the_order_and_distance_of_their_offsets() -> None:
    drawn = boxes(stores_bar(90, 100, 112, 140))
    assert drawn["unsaved"] == (1.0, 23.6)
    assert drawn["uncommitted"] == (24.6, 28.3)
    assert drawn["held"] == (52.9, 66.1)
    assert [drawn[f"mark {name}"][0] for name in ("file", "broker", "client")] == [0.0, 23.6, 51.9]


def test_stores_that_agree_show_no_distance() -> None:
    drawn = boxes(stores_bar(100, 100, 100, 100))
    assert drawn == dict.fromkeys(("mark file", "mark broker", "mark client"), (59.0, 2.0))


def test_a_client_behind_the_broker_is_drawn_behind_it() -> None:
    drawn = boxes(stores_bar(None, 120, 100, 110))
    assert drawn["mark client"][0] < drawn["mark broker"][0]
    assert drawn["uncommitted"] == (1.0, 118.0)


def test_without_a_file_only_the_memories_are_drawn() -> None:
    svg = stores_bar(None, 100, 112, 140)
    assert boxes(svg).keys() == {"uncommitted", "held", "mark broker", "mark client"}
    assert 'aria-label="broker 100, client 112, held to 140"' in svg


@pytest.mark.parametrize(
    ("stores", "label"),
    [
        ((90, None, 112, None), "distance unknown: file 90, client 112"),
        ((90, 100, None, None), "distance unknown: file 90, broker 100"),
        ((None, None, None, None), "distance unknown: no store is known"),
    ],
)
def test_a_memory_that_is_not_known_is_hatched_and_never_drawn_at_zero(stores, label) -> None:
    svg = stores_bar(*stores)
    assert 'fill="url(#hatch)"' in svg
    assert f'aria-label="{label}"' in svg
    assert "mark" not in svg


def test_nothing_is_drawn_beyond_the_frame() -> None:
    for left, width in boxes(stores_bar(0, 10**15, 10**15 + 1, 10**15 + 7)).values():
        assert left >= 0
        assert left + width <= 120
