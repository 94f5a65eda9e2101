"""From what a rule found to a condition, and the words that all rules share."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext

from consumers.selectors.ownership.troubles.words import ids
from consumers.selectors.retries.checks.condition_rows import Condition, ConditionName, Severity
from consumers.selectors.retries.checks.facts import BrokerFacts, GroupFacts


def holds(name: ConditionName, severity: Severity, detail: str, cure: str, as_of: datetime | None = None) -> Condition:
    return Condition(name=name, ok=True, severity=severity, detail=detail, cure=cure, as_of=as_of)


def fails(
    name: ConditionName,
    severity: Severity,
    detail: str,
    cure: str,
    brokers: Sequence[BrokerFacts] = (),
    as_of: datetime | None = None,
) -> Condition:
    named = sorted(broker.name for broker in brokers)
    return Condition(name=name, ok=False, severity=severity, detail=detail, cure=cure, brokers=named, as_of=as_of)


def unknown(name: ConditionName, severity: Severity, reason: str, cure: str) -> Condition:
    return Condition(name=name, ok=None, severity=severity, detail=reason, cure=cure, unknown_reason=reason)


def names(brokers: Sequence[BrokerFacts]) -> str:
    return ids(broker.name for broker in brokers)


def oldest(brokers: Sequence[BrokerFacts]) -> datetime | None:
    """When what was said of the group was read, of the oldest of them."""
    return min((broker.read_at for broker in brokers if broker.read_at is not None), default=None)


def unread_reason(brokers: Sequence[BrokerFacts]) -> str | None:
    return next((broker.unread for broker in brokers if broker.unread is not None), None)


def nobody_holds(facts: GroupFacts) -> str:
    words = {"group": facts.group, "cluster": facts.cluster}
    return gettext("No broker of %(cluster)s is known to hold a topic that %(group)s consumes.") % words


def at(brokers: Sequence[BrokerFacts]) -> str:
    """mqadmin's option that names the broker."""
    return f"-b {brokers[0].address}" if len(brokers) == 1 else "-b ADDRESS"


def sub_group(facts: GroupFacts, brokers: Sequence[BrokerFacts], option: str) -> str:
    """The command sets every value of the group: those left out become its defaults (RocketMQ 5.4.0,
    UpdateSubGroupSubCommand)."""
    return f"mqadmin updateSubGroup -n '{facts.namesrv}' {at(brokers)} -g {facts.group} {option}"


def topic_permission(facts: GroupFacts, brokers: Sequence[BrokerFacts], topic: str) -> str:
    return f"mqadmin updateTopicPerm -n '{facts.namesrv}' {at(brokers)} -t '{topic}' -p 6"
