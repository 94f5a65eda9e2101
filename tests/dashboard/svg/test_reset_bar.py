import re

import pytest

from dashboard.figures.offset_bars import reset_bar


def edges(svg: str, name: str) -> tuple[float, float]:
    """Left edge and width of a part."""
    [found] = re.findall(rf'<rect class="{name}" x="([\d.-]+)" y="[\d.]+" width="([\d.]+)"', svg)
    return float(found[0]), float(found[1])


def diamond(svg: str) -> float:
    [at] = re.findall(r'class="target" d="M([\d.]+) ', svg)
    return float(at)


def test_a_queue_that_goes_back_has_a_line_above_from_its_target_to_where_it_stands() -> None:
    svg = reset_bar(0, 1000, 900, 100)
    assert edges(svg, "kept") == (6.0, 168.0)
    assert edges(svg, "replayed") == (22.8, 134.4)
    assert diamond(svg) == 22.8
    assert 'class="skipped"' not in svg


def test_a_queue_that_goes_ahead_has_a_line_below() -> None:
    svg = reset_bar(0, 1000, 100, 900)
    assert edges(svg, "skipped") == (22.8, 134.4)
    assert re.findall(r'class="skipped" x="[\d.]+" y="(\d+)"', svg) == ["13"]
    assert re.findall(r'class="replayed" x="[\d.]+" y="(\d+)"', reset_bar(0, 1000, 900, 100)) == ["3"]


def test_a_queue_that_stands_at_its_target_goes_nowhere() -> None:
    svg = reset_bar(0, 1000, 500, 500)
    assert diamond(svg) == 90.0
    assert "replayed" not in svg
    assert "skipped" not in svg


def test_an_offset_whose_message_is_gone_is_drawn_before_what_is_kept() -> None:
    svg = reset_bar(500, 1000, 0, 500)
    assert edges(svg, "now")[0] < edges(svg, "kept")[0]


def test_an_empty_queue_is_drawn_in_the_middle() -> None:
    assert diamond(reset_bar(0, 0, 0, 0)) == 90.0


def test_a_queue_without_a_commit_has_a_target_and_no_bar() -> None:
    svg = reset_bar(0, 1000, None, 100, "no committed offset")
    assert diamond(svg) == 22.8
    assert 'class="now"' not in svg
    assert "min 0, now no committed offset, target 100" in svg


@pytest.mark.parametrize("ends", [(None, 1000), (0, None), (1000, 0)])
def test_it_is_hatched_where_what_is_kept_is_not_known(ends: tuple[int | None, int | None]) -> None:
    svg = reset_bar(*ends, 500, 100)
    assert "url(#hatch)" in svg
    assert 'class="target"' not in svg


def test_it_says_in_words_what_it_draws() -> None:
    assert 'aria-label="min 0, now 900, target 100, max 1,000"' in reset_bar(0, 1000, 900, 100)
