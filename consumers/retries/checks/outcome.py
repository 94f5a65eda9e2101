"""From what a rule found to a condition, in words that all rules share."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext

from consumers.ownership.troubles.evidence import ids
from consumers.retries.checks.condition_rows import Condition, ConditionName, Severity
from consumers.retries.checks.facts import WRITE, BrokerFacts, RetryFacts


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


def nobody_holds(facts: RetryFacts) -> str:
    words = {"group": facts.group, "cluster": facts.cluster}
    return gettext("No known broker of %(cluster)s has a topic that %(group)s consumes.") % words


def at(brokers: Sequence[BrokerFacts]) -> str:
    """mqadmin's option that names the broker."""
    return f"-b {brokers[0].address}" if len(brokers) == 1 else "-b ADDRESS"


def sub_group(facts: RetryFacts, brokers: Sequence[BrokerFacts], option: str) -> str:
    """The command sets every value of the group: those left out become its defaults (RocketMQ 5.4.0,
    UpdateSubGroupSubCommand)."""
    return f"mqadmin updateSubGroup -n '{facts.namesrv}' {at(brokers)} -g {facts.group} {option}"


def topic_permission(facts: RetryFacts, brokers: Sequence[BrokerFacts], topic: str) -> str:
    return f"mqadmin updateTopicPerm -n '{facts.namesrv}' {at(brokers)} -t '{topic}' -p 6"


# Which brokers take a failed message, by which of the two ways.
#
# Sending back (36) asks the broker that stores it: its own permission, the group, `%RETRY%group`'s permission, in
# this
# order (RocketMQ 5.4.0, AbstractSendMessageProcessor.consumerSendMsgBack). Where that fails for any reason the client
# writes a copy to `%RETRY%group` as to any topic: to a broker whose route has it writable and whose master is listed
# (DefaultMQPushConsumerImpl.sendMessageBack, MQClientInstance.topicRouteData2TopicPublishInfo). Brokers put their own
# permission into the routes they register (BrokerController.registerBrokerAll).
def takes_back(broker: BrokerFacts) -> bool | None:
    """Whether it takes back the failed messages that it stores; also where it then drops them."""
    said = broker.group
    return _all(
        broker.has_master,
        broker.permission.has(WRITE),
        None if said is None else said.configured,
        None if said is None else said.retry_permission is None or bool(said.retry_permission & WRITE),
    )


def is_way_round(broker: BrokerFacts) -> bool | None:
    """Whether clients can write a copy of a failed message to `%RETRY%group` there."""
    said = broker.group
    return _all(
        broker.has_master,
        broker.permission.has(WRITE),
        broker.routed.has(WRITE),
        None if said is None else said.configured and said.read_queues != 0,
        None if said is None else bool((said.retry_permission or 0) & WRITE),
    )


def why_not_taken_back(broker: BrokerFacts) -> str:
    said = broker.group
    words = {"broker": broker.name, "permission": broker.permission.value}
    if broker.has_master is False:
        return gettext("the master of %(broker)s is down") % words
    if broker.permission.has(WRITE) is False:
        return gettext("%(broker)s takes no messages: its brokerPermission is %(permission)s") % words
    if said is not None and not said.configured:
        return gettext("%(broker)s does not know the group") % words
    return gettext("%(broker)s does not let the retry topic be written") % words


def why_unknown(broker: BrokerFacts) -> str:
    """Why one of the two could not be told."""
    reason = broker.unread or broker.permission.unknown or broker.routed.unknown
    return reason or gettext("%(broker)s has not been read yet.") % {"broker": broker.name}


def _all(*claims: bool | None) -> bool | None:
    """False as soon as one is: what is not known of the others cannot help."""
    if False in claims:
        return False
    return None if None in claims else True
