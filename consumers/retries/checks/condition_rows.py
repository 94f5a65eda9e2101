"""Rows of conditions: what must hold for a group's failed messages to come back, and what does not."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from consumers.queries.declared import INSIDE, answer, public


class Severity(StrEnum):
    """The worst first. CRITICAL: messages are lost, or the group stands still. NOTE: worth knowing, and no fault."""

    CRITICAL = "critical"
    WARNING = "warning"
    NOTE = "note"


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


@answer("A health check that must pass for failed messages to be redelivered. `ok` null: unknown.")
@dataclass(frozen=True, kw_only=True)
class Condition:
    """`cure`: whatever was found. `as_of` is null where it leans on no fact."""

    name: ConditionName
    ok: bool | None
    severity: Severity = field(metadata=public("If the check fails"))
    detail: str
    cure: str = field(metadata=public("What to do if the check fails"))
    unknown_reason: str | None = field(default=None, metadata=INSIDE)
    brokers: Sequence[str] = field(default=(), metadata=public("On which the check fails"))
    as_of: datetime | None = field(default=None, metadata=public("The oldest of the facts that it leans on"))

    @property
    def is_failing(self) -> bool:
        return self.ok is False

    @property
    def place(self) -> tuple[int, int, int]:
        """For sorting: what does not hold first, the worst of it before the rest, then what is not known."""
        known = 0 if self.ok is False else 1 if self.ok is None else 2
        return known, list(Severity).index(self.severity), list(ConditionName).index(self.name)


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
    severity: Severity
    detail: str
    cure: str
    since: datetime | None
