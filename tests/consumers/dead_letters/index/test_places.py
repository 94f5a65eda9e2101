"""How many letters of each queue are kept, and how calls are shared out."""

import pytest
from hypothesis import given, strategies as st

from consumers.dead_letters.read_queue import Calls, Ends, kept_from


def kept(most: int, *stocks: int) -> list[int]:
    """Of queues that begin at 100."""
    ends = {(f"broker-{number}", 0): Ends(100, 100 + stock) for number, stock in enumerate(stocks)}
    low = kept_from(ends, most)
    return [ends[place].broker_offset - low[place] for place in ends]


@pytest.mark.parametrize(
    ("most", "stocks", "expected"),
    [
        (10, (4, 5), [4, 5]),
        (10, (40,), [10]),
        (10, (40, 50), [5, 5]),
        (10, (3, 50), [3, 7]),
        (10, (50, 3, 50), [3, 3, 4]),
        (10, (0, 20), [0, 10]),
    ],
)
def test_small_queues_leave_their_share_to_the_others(most: int, stocks: tuple[int, ...], expected: list[int]) -> None:
    assert sorted(kept(most, *stocks)) == sorted(expected)


@given(most=st.integers(0, 50), stocks=st.lists(st.integers(0, 40), max_size=5))
def test_as_many_are_kept_as_may_be_and_the_newest(most: int, stocks: list[int]) -> None:
    taken = kept(most, *stocks)
    assert sum(taken) == min(most, sum(stocks))
    assert all(0 <= count <= stock for count, stock in zip(taken, stocks, strict=True))


def test_a_turn_ends_with_its_own_calls_or_with_the_whole() -> None:
    whole = Calls(5)
    turn = whole.turn(3)
    assert [turn.take() for _ in range(4)] == [True, True, True, False]
    assert whole.left == 2
    assert [whole.turn(3).take() for _ in range(3)] == [True, True, False]
