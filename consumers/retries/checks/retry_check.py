"""A retry check is declared where its rule is: its name, its severity, and the groups that it is for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from consumers.retries.checks.condition_rows import Condition, ConditionName
from consumers.retries.checks.observed import BrokerConditions, RetryConditions
from consumers.vocabulary.findings import FindingSeverity

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
    """What one broker says of a group, as it is stored."""

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

    def __call__(self, facts: RetryConditions) -> Condition:
        found = self.rule(facts)
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
