import pytest

from dashboard.figures.offset_bars import WIDTH, offset_bar


@pytest.mark.parametrize("offsets", [(None, 5, 9), (0, None, 9), (0, 5, None)])
def test_it_is_hatched_when_one_of_the_three_is_unknown(offsets: tuple[int | None, int | None, int | None]) -> None:
    drawing = offset_bar(*offsets)
    assert "url(#hatch)" in drawing
    assert "consumed" not in drawing


def test_it_is_filled_up_to_the_consumer() -> None:
    assert f'class="consumed" y="4" width="{WIDTH / 4:.1f}"' in offset_bar(0, 25, 100)


def test_it_leaves_a_sliver_for_a_backlog_however_small() -> None:
    assert f'class="waiting" x="{WIDTH - 2:.1f}"' in offset_bar(0, 999_999, 1_000_000)


def test_it_is_full_when_nothing_waits() -> None:
    assert 'width="0.0"' in offset_bar(0, 100, 100)


def test_it_marks_messages_that_expired_before_they_were_consumed() -> None:
    assert "expired" in offset_bar(50, 20, 100)


def test_it_is_full_for_an_empty_queue() -> None:
    assert f'class="consumed" y="4" width="{WIDTH:.1f}"' in offset_bar(0, 0, 0)


@pytest.mark.parametrize("offsets", [(0, 101, 100), (101, 50, 100)])
def test_it_is_hatched_when_the_queue_ends_before_its_consumer_or_its_oldest_message(
    offsets: tuple[int, int, int],
) -> None:
    drawing = offset_bar(*offsets)
    assert "they contradict each other" in drawing
    assert "url(#hatch)" in drawing
    assert "consumed" not in drawing.replace("consumer", "")
