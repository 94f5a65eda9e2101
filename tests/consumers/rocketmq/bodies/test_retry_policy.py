"""Retry policies of groups: how long a message waits before it comes again."""

import pytest
from hypothesis import given, strategies as st

from consumers.rocketmq.bodies.config_bodies import RetryPolicy, retry_delay_ms

DEFAULT = RetryPolicy("CUSTOMIZED", None, None, None, None)
TIMES = st.integers(0, 100)


@pytest.mark.parametrize(
    ("policy", "times", "delay_ms"),
    [
        (DEFAULT, 0, 10_000),
        (DEFAULT, 1, 30_000),
        (DEFAULT, 15, 7_200_000),
        (DEFAULT, 16, 7_200_000),
        (DEFAULT, -1, 10_000),
        (RetryPolicy("CUSTOMIZED", (1, 2, 3, 4), None, None, None), 0, 3),
        (RetryPolicy("CUSTOMIZED", (1, 2, 3, 4), None, None, None), 1, 4),
        (RetryPolicy("CUSTOMIZED", (1, 2, 3, 4), None, None, None), 9, 4),
        (RetryPolicy("CUSTOMIZED", (7,), None, None, None), 0, 7),
        (RetryPolicy("CUSTOMIZED", (), None, None, None), 0, None),
        (RetryPolicy("EXPONENTIAL", None, 5_000, 7_200_000, 2), 0, 5_000),
        (RetryPolicy("EXPONENTIAL", None, 5_000, 7_200_000, 2), 3, 40_000),
        (RetryPolicy("EXPONENTIAL", None, 5_000, 7_200_000, 2), 30, 7_200_000),
        (RetryPolicy("EXPONENTIAL", None, 1_000, None, None), 1, 2_000),
        # Without its numbers RocketMQ takes the customized delays.
        (RetryPolicy("EXPONENTIAL", None, None, None, None), 0, 10_000),
        # 10 to the power of 32 is no Java long.
        (RetryPolicy("EXPONENTIAL", None, 5_000, 7_200_000, 10), 40, None),
        # A kind that is not known is the default to RocketMQ.
        (RetryPolicy("OTHER", None, 1, 2, 3), 0, 10_000),
    ],
)
def test_a_policy_gives_the_delay_that_rocketmq_computes(policy: RetryPolicy, times: int, delay_ms: int | None) -> None:
    assert retry_delay_ms(policy, times) == delay_ms


@given(st.lists(st.integers(0, 10**9), min_size=1), TIMES)
def test_a_customized_delay_is_one_of_its_list(delays: list[int], times: int) -> None:
    assert retry_delay_ms(RetryPolicy("CUSTOMIZED", tuple(delays), None, None, None), times) in delays


@given(st.integers(0, 1000), st.integers(0, 10**8), st.integers(1, 3), TIMES)
def test_an_exponential_delay_grows_up_to_its_most(initial: int, most: int, multiplier: int, times: int) -> None:
    policy = RetryPolicy("EXPONENTIAL", None, initial, most, multiplier)
    first, second = retry_delay_ms(policy, times), retry_delay_ms(policy, times + 1)
    assert first is not None
    assert second is not None
    assert min(initial, most) <= first <= second <= most
