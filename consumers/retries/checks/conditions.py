"""What must hold for a group's failed messages to come back: rows, and pure rules over facts."""

from collections.abc import Callable
from datetime import datetime

from consumers.retries.checks.brokers import (
    accepted,
    brokers_take_back,
    dead_readable,
    retry_queues,
    retry_readable,
    retry_writable,
    routed,
)
from consumers.retries.checks.condition_rows import Condition
from consumers.retries.checks.facts import RetryFacts, group_facts
from consumers.retries.checks.members import (
    acknowledged,
    enabled,
    exists,
    in_turn,
    kept,
    originals,
    retried,
    single,
    timeout,
)

# Whether what a group's retries need is there: pure rules over rows, no socket.
Rule = Callable[[RetryFacts], Condition]

# What every group needs, and what only those that send failed messages back do.
OF_ALL: tuple[Rule, ...] = (exists, enabled, retried)

OF_RETRIES: tuple[Rule, ...] = (kept, retry_readable, dead_readable)

OF_SENDING_BACK: tuple[Rule, ...] = (
    accepted,
    brokers_take_back,
    routed,
    retry_writable,
    retry_queues,
    originals,
    timeout,
    single,
    in_turn,
)


def conditions_of(cluster: str, group: str, now: datetime) -> list[Condition]:
    """What does not hold first, the worst of it before the rest. Those that mean nothing for such a group are left out:
    a broadcasting group has no retries. A fixed number of queries. Raises ConsumerGroup.DoesNotExist.
    """
    return conditions(group_facts(cluster, group, now))


def conditions(facts: RetryFacts) -> list[Condition]:
    return sorted((rule(facts) for rule in _rules(facts)), key=lambda condition: condition.place)


def _rules(facts: RetryFacts) -> tuple[Rule, ...]:
    if facts.is_broadcasting:
        return OF_ALL
    if facts.is_popping:
        return (*OF_ALL, *OF_RETRIES, acknowledged)
    return (*OF_ALL, *OF_RETRIES, *OF_SENDING_BACK)
