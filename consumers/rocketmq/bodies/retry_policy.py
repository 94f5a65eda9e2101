"""How long a message waits before it comes again under a group's retry policy.

Heeded where a proxy gives messages back for POP and gRPC clients (RocketMQ 5.4.0, DefaultReceiptHandleManager); other
clients' retries wait on delay levels.
"""

from .broker_values import RetryPolicy

# 5.4.0, CustomizedRetryPolicy and ExponentialRetryPolicy: what they are without values of their own.
CUSTOMIZED_MS = tuple(
    1000 * seconds
    for seconds in (1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200)
)
INITIAL_MS, MAX_MS, MULTIPLIER = 5_000, 7_200_000, 2
CUSTOMIZED_SHIFT = 2
MOST_POWERS = 32
JAVA_LONG_MAX = (1 << 63) - 1


def retry_delay_ms(policy: RetryPolicy, reconsume_times: int) -> int | None:
    """The wait of a message that was tried `reconsume_times` times again so far: 0 before its first retry.

    None where the policy gives no delay: a list without one, or numbers beyond what Java's long holds.
    """
    times = max(reconsume_times, 0)
    has_numbers = any(value is not None for value in (policy.initial_ms, policy.max_ms, policy.multiplier))
    # An exponential policy without its numbers is the customized one (5.4.0, GroupRetryPolicy.getRetryPolicy).
    if policy.kind == "EXPONENTIAL" and has_numbers:
        return _exponential(policy, min(times, MOST_POWERS))
    delays = policy.delays_ms if policy.kind == "CUSTOMIZED" and policy.delays_ms is not None else CUSTOMIZED_MS
    return delays[min(times + CUSTOMIZED_SHIFT, len(delays) - 1)] if delays else None


def _exponential(policy: RetryPolicy, power: int) -> int | None:
    initial = INITIAL_MS if policy.initial_ms is None else policy.initial_ms
    multiplier = MULTIPLIER if policy.multiplier is None else policy.multiplier
    delay = initial * multiplier**power
    if abs(delay) > JAVA_LONG_MAX:
        return None
    return min(MAX_MS if policy.max_ms is None else policy.max_ms, delay)
