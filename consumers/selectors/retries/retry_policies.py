"""The retry policy that brokers keep for a group, as delays of its retries."""

from typing import Any

from consumers.models import ConsumerGroup, GroupBroker
from consumers.polling.members.popping import pop_answers
from consumers.rocketmq.broker_values import RetryPolicy
from consumers.rocketmq.retry_policy import retry_delay_ms
from consumers.vocabulary.groups import POPPING

from .ladder_rows import RetryPolicyRow

RETRIES = range(1, 17)
NOT_TOLD = "no broker has told the group's retry policy"
NOT_SAID = "no member has said how it consumes"


def policy_of(group: ConsumerGroup) -> tuple[RetryPolicyRow | None, str]:
    """With why there is none. Three queries."""
    told = (
        GroupBroker.objects.filter(group=group, configured=True)
        .order_by("broker")
        .values_list("broker", "retry_policy")
    )
    policies = {broker: policy for broker, policy in told if policy is not None}
    if not policies:
        return None, NOT_TOLD
    (first, policy), *others = policies.items()
    for broker, other in others:
        if other != policy:
            return None, f"{first} and {broker} keep different retry policies of the group"
    return _row(policy, _pops(group)), ""


def _row(told: dict[str, Any], pops: bool | None) -> RetryPolicyRow:
    delays = told.get("delays_ms")
    numbers = (told.get(name) for name in ("initial_ms", "max_ms", "multiplier"))
    policy = RetryPolicy(told["kind"], None if delays is None else tuple(delays), *numbers)
    # Before the first retry a message was tried again 0 times.
    waits = [retry_delay_ms(policy, retry - 1) for retry in RETRIES]
    known = [wait / 1000 for wait in waits if wait is not None]
    unknown = (
        {} if len(known) == len(waits) else {"delays_seconds": "the policy gives no delay that a broker could use"}
    )
    unknown |= {} if pops is not None else {"is_heeded": NOT_SAID}
    return RetryPolicyRow(
        kind=policy.kind, delays_seconds=[] if "delays_seconds" in unknown else known, is_heeded=pops, unknown=unknown
    )


def _pops(group: ConsumerGroup) -> bool | None:
    if group.consume_type == POPPING:
        return True
    answer = pop_answers([group.pk]).get(group.pk)
    return answer.pops if answer is not None else None
