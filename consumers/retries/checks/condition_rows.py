"""Rows of conditions: what must hold for a group's failed messages to come back, and what does not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext, gettext_lazy as _

from consumers.queries.declared import INSIDE, answer, public
from consumers.queries.findings import DetectedFinding, ids
from consumers.retries.checks.observed import BrokerConditions, RetryConditions
from consumers.vocabulary.findings import FindingCode, FindingSeverity
from consumers.vocabulary.states import WRITE


class ConditionName(StrEnum):
    """As claims, in the order in which conditions of one severity stand.

    A chain: the group's broker takes a failed message back; where it does not, the client writes it to any broker that
    takes `%RETRY%group`; where none does, the client keeps it and tries every 5 s, and the offset stands.
    """

    KEPT = "retries are kept"
    ACCEPTED = "some broker takes retries"
    GROUP_EXISTS = "the group exists"
    RETRY_QUEUES = "all retry queues are read"
    RETRY_READABLE = "the retry topic is read"
    RETRY_WRITABLE = "the retry topic takes messages"
    ENABLED = "consumption is enabled"
    DLQ_READABLE = "dead letters can be read"
    TAKES_BACK = "brokers take their messages back"
    ROUTED = "name servers route messages to the brokers"
    ORIGINALS = "originals are stored"
    RETRIED = "failed messages are retried"
    TIMEOUT = "no message is retried while it runs"
    SINGLE = "a message fails alone"
    IN_TURN = "retries do not hold a queue up"
    ACKNOWLEDGED = "offsets wait for the outcome"


# What is found where a condition does not hold.
FINDINGS = {
    ConditionName.KEPT: FindingCode.RETRIES_DISCARDED,
    ConditionName.ACCEPTED: FindingCode.RETRIES_NOT_ACCEPTED,
    ConditionName.GROUP_EXISTS: FindingCode.GROUP_MISSING,
    ConditionName.RETRY_QUEUES: FindingCode.RETRY_QUEUES_UNREAD,
    ConditionName.RETRY_READABLE: FindingCode.RETRY_TOPIC_UNREADABLE,
    ConditionName.RETRY_WRITABLE: FindingCode.RETRY_TOPIC_UNWRITABLE,
    ConditionName.ENABLED: FindingCode.CONSUMPTION_DISABLED,
    ConditionName.DLQ_READABLE: FindingCode.DLQ_UNREADABLE,
    ConditionName.TAKES_BACK: FindingCode.BROKER_TAKES_NONE_BACK,
    ConditionName.ROUTED: FindingCode.NOT_ROUTED,
    ConditionName.ORIGINALS: FindingCode.ORIGINALS_DELETED,
    ConditionName.RETRIED: FindingCode.NOT_RETRIED,
    ConditionName.TIMEOUT: FindingCode.CONSUME_TIMEOUT,
    ConditionName.SINGLE: FindingCode.BATCH_RETRIED,
    ConditionName.IN_TURN: FindingCode.RETRIED_IN_PLACE,
    ConditionName.ACKNOWLEDGED: FindingCode.ACKNOWLEDGED_EARLY,
}
# Settings that somebody chose on purpose: worth knowing, but no fault.
ON_PURPOSE = frozenset({ConditionName.ENABLED, ConditionName.RETRIED})


@answer("A health check that must pass for failed messages to be redelivered. `ok` null: unknown.")
@dataclass(frozen=True, kw_only=True)
class Condition:
    """`cure`: whatever was found. `as_of` is null where it leans on no fact."""

    name: ConditionName
    ok: bool | None
    severity: FindingSeverity = field(metadata=public("If the check fails"))
    detail: str
    cure: str = field(metadata=public("What to do if the check fails"))
    unknown_reason: str | None = field(default=None, metadata=INSIDE)
    brokers: Sequence[str] = field(default=(), metadata=public("On which the check fails"))
    as_of: datetime | None = field(default=None, metadata=public("The oldest of the facts that it leans on"))

    @property
    def is_failing(self) -> bool:
        return self.ok is False

    @property
    def finding(self) -> DetectedFinding | None:
        if not self.is_failing:
            return None
        return DetectedFinding(
            code=FINDINGS[self.name],
            given_severity=FindingSeverity.INFO if self.name in ON_PURPOSE else self.severity,
            params={"brokers": list(self.brokers)} if self.brokers else {},
        )

    @property
    def place(self) -> tuple[int, int, int]:
        """For sorting: failed conditions first, the most severe before the others, then unknown ones."""
        known = 0 if self.ok is False else 1 if self.ok is None else 2
        return known, list(FindingSeverity).index(self.severity), list(ConditionName).index(self.name)


@dataclass(frozen=True, kw_only=True)
class FailingGroup:
    """A condition that does not hold: for one group, or (`group` null) for `groups` groups by one cause on `broker`.

    `broker` is null where it does not hold on several. `since` is null where that is not known.
    """

    cluster: str
    group: str | None
    broker: str | None
    groups: int
    name: ConditionName
    severity: FindingSeverity
    detail: str
    cure: str
    since: datetime | None


# Words that the rules of retry checks share, and which brokers take a failed message.


def names(brokers: Sequence[BrokerConditions]) -> str:
    return ids(broker.name for broker in brokers)


def oldest(brokers: Sequence[BrokerConditions]) -> datetime | None:
    """When what was said of the group was read, of the oldest of them."""
    return min((broker.read_at for broker in brokers if broker.read_at is not None), default=None)


def unread_reason(brokers: Sequence[BrokerConditions]) -> str | None:
    return next((broker.unread for broker in brokers if broker.unread is not None), None)


def nobody_holds(conditions: RetryConditions) -> str:
    words = {"group": conditions.group, "cluster": conditions.cluster}
    return gettext("No known broker of %(cluster)s has a topic that %(group)s consumes.") % words


def at(brokers: Sequence[BrokerConditions]) -> str:
    """mqadmin's option that names the broker."""
    return f"-b {brokers[0].address}" if len(brokers) == 1 else "-b ADDRESS"


def sub_group(conditions: RetryConditions, brokers: Sequence[BrokerConditions], option: str) -> str:
    """The command sets every value of the group: those left out become its defaults (RocketMQ 5.4.0,
    UpdateSubGroupSubCommand)."""
    return f"mqadmin updateSubGroup -n '{conditions.namesrv}' {at(brokers)} -g {conditions.group} {option}"


def topic_permission(conditions: RetryConditions, brokers: Sequence[BrokerConditions], topic: str) -> str:
    return f"mqadmin updateTopicPerm -n '{conditions.namesrv}' {at(brokers)} -t '{topic}' -p 6"


# Which brokers take a failed message, by which of the two ways.
#
# Sending back (36) asks the broker that stores it: its own permission, the group, `%RETRY%group`'s permission, in
# this order (RocketMQ 5.4.0, AbstractSendMessageProcessor.consumerSendMsgBack). Where that fails for any reason the
# client writes a copy to `%RETRY%group` as to any topic: to a broker whose route has it writable and whose master is
# listed (DefaultMQPushConsumerImpl.sendMessageBack, MQClientInstance.topicRouteData2TopicPublishInfo). Brokers put
# their own permission into the routes they register (BrokerController.registerBrokerAll).
def takes_back(broker: BrokerConditions) -> bool | None:
    """Whether it takes back the failed messages that it stores; also where it then drops them."""
    configured = broker.group
    return _all(
        broker.has_master,
        broker.permission.has(WRITE),
        None if configured is None else configured.configured,
        None
        if configured is None
        else configured.retry_permission is None or bool(configured.retry_permission & WRITE),
    )


def is_way_round(broker: BrokerConditions) -> bool | None:
    """Whether clients can write a copy of a failed message to `%RETRY%group` there."""
    configured = broker.group
    return _all(
        broker.has_master,
        broker.permission.has(WRITE),
        broker.routed.has(WRITE),
        None if configured is None else configured.configured and configured.read_queues != 0,
        None if configured is None else bool((configured.retry_permission or 0) & WRITE),
    )


def why_not_taken_back(broker: BrokerConditions) -> str:
    configured = broker.group
    words = {"broker": broker.name, "permission": broker.permission.value}
    if broker.has_master is False:
        return gettext("the master of %(broker)s is down") % words
    if broker.permission.has(WRITE) is False:
        return gettext("%(broker)s takes no messages: its brokerPermission is %(permission)s") % words
    if configured is not None and not configured.configured:
        return gettext("%(broker)s does not know the group") % words
    return gettext("%(broker)s does not let the retry topic be written") % words


def why_unknown(broker: BrokerConditions) -> str:
    """Why one of the two could not be told."""
    reason = broker.unread or broker.permission.unknown or broker.routed.unknown
    return reason or gettext("%(broker)s has not been scraped yet.") % {"broker": broker.name}


def _all(*claims: bool | None) -> bool | None:
    """Returns False as soon as one value is False: unknown others cannot change that."""
    if False in claims:
        return False
    return None if None in claims else True


# A retry check is declared where its rule is: its name, its severity, and the groups that it is for.
PERMISSION_OF_EACH = _("“mqadmin updateTopicPerm” with -p 6 for each of the topics.")


class Of(Enum):
    """The groups that a check is for."""

    ALL = "every group"
    RETRIES = "groups whose failed messages are retried"
    SENDING_BACK = "groups whose members send failed messages back"
    POPPING = "groups that pop"


@dataclass(frozen=True)
class Outcome:
    """What a rule found; without `severity` the check's own."""

    ok: bool | None
    detail: str
    cure: str
    brokers: Sequence[BrokerConditions] = ()
    as_of: datetime | None = None
    severity: FindingSeverity | None = None


def holds(detail: str, cure: str, as_of: datetime | None = None, *, severity: FindingSeverity | None = None) -> Outcome:
    return Outcome(True, detail, cure, as_of=as_of, severity=severity)


def fails(
    detail: str, cure: str, brokers: Sequence[BrokerConditions] = (), as_of: datetime | None = None, **more: Any
) -> Outcome:
    return Outcome(False, detail, cure, brokers, as_of, **more)


def unknown(reason: str, cure: str, *, severity: FindingSeverity | None = None) -> Outcome:
    return Outcome(None, reason, cure, severity=severity)


class Configured(NamedTuple):
    """The configuration of a group at one broker, as it is stored."""

    group: str
    retry_queue_nums: int | None
    retry_read_queues: int | None
    dlq_permission: int | None
    retry_permissions: dict[str, int]


Rule = Callable[[RetryConditions], Outcome]


@dataclass(frozen=True, kw_only=True)
class RetryCheck:
    """`suspect`: whether what a broker says of a group may fail the check. `of_many`, `cure_of_many`: words for many
    groups of a cluster that fail it.
    """

    name: ConditionName
    severity: FindingSeverity
    of: Of
    rule: Rule
    suspect: Callable[[Configured], bool] = lambda said: False
    of_many: Promise | None = None
    cure_of_many: Promise | None = None

    def __call__(self, conditions: RetryConditions) -> Condition:
        found = self.rule(conditions)
        return Condition(
            name=self.name,
            ok=found.ok,
            severity=found.severity or self.severity,
            detail=found.detail,
            cure=found.cure,
            unknown_reason=found.detail if found.ok is None else None,
            brokers=sorted(broker.name for broker in found.brokers),
            as_of=found.as_of,
        )


def check(name: ConditionName, severity: FindingSeverity, of: Of, **more: Any) -> Callable[[Rule], RetryCheck]:
    return lambda rule: RetryCheck(name=name, severity=severity, of=of, rule=rule, **more)
