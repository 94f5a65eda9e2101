"""What must hold for a group's failed messages to come back: rows, and pure rules over facts."""

from datetime import datetime

from consumers.retries.checks import brokers, members
from consumers.retries.checks.condition_rows import Condition, Of, RetryCheck
from consumers.retries.checks.observed import RetryConditions, group_facts

CHECKS = {
    check.name: check
    for module in (members, brokers)
    for check in vars(module).values()
    if isinstance(check, RetryCheck)
}


def conditions_of(cluster: str, group: str, now: datetime) -> list[Condition]:
    """What does not hold first, the worst of it before the rest. Those that mean nothing for such a group are left out:
    a broadcasting group has no retries. A fixed number of queries. Raises ConsumerGroup.DoesNotExist.
    """
    return conditions(group_facts(cluster, group, now))


def conditions(facts: RetryConditions) -> list[Condition]:
    meant = {Of.ALL}
    if not facts.is_broadcasting:
        meant |= {Of.RETRIES, Of.POPPING if facts.is_popping else Of.SENDING_BACK}
    return sorted((check(facts) for check in CHECKS.values() if check.of in meant), key=lambda found: found.place)
