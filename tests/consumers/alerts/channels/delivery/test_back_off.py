"""When a message is tried again."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from hypothesis import given, strategies as st

from consumers.alerts.channels.receiver import pause_after

ZERO = UUID(int=0)


@pytest.mark.parametrize(("attempts", "seconds"), [(1, 5), (2, 10), (3, 20), (4, 40), (5, 60), (9, 60), (5000, 60)])
def test_pauses_double_up_to_a_minute(attempts: int, seconds: float) -> None:
    assert pause_after(attempts, ZERO) == timedelta(seconds=seconds)


@given(st.integers(1, 200), st.uuids())
def test_each_is_longer_by_up_to_a_quarter_and_always_the_same_for_a_message(attempts: int, delivery: UUID) -> None:
    pause = pause_after(attempts, delivery)
    assert pause_after(attempts, ZERO) <= pause <= pause_after(attempts, ZERO) * 1.25
    assert pause == pause_after(attempts, delivery)


def test_messages_of_one_moment_are_not_tried_again_in_one_moment() -> None:
    assert len({pause_after(8, uuid4()) for _ in range(20)}) > 10


@pytest.mark.parametrize(("wished", "seconds"), [(None, 5), (0, 5), (3, 5), (60, 60), (1e9, 3600)])
def test_a_receivers_wish_is_heeded_within_an_hour(wished: float | None, seconds: float) -> None:
    assert pause_after(1, ZERO, wished) == timedelta(seconds=seconds)
