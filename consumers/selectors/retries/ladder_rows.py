"""What the selectors say of the delay levels that a group's retries wait on. Null stands with its reason beside it.

A level's messages are of all groups: the broker's backlog is counted whole, what of it is this group's is a sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, kw_only=True)
class SampledRung:
    """Of `of` messages that waited at this level on all brokers, `looked_at` were looked into: `messages` are retries
    of the group. `attempts`: {reconsume times: messages}, the retry that they wait for. Times are the brokers'; null
    where the group has no message among them. `sampled_at`: of the brokers' newest samples the oldest.
    """

    messages: int
    looked_at: int
    of: int
    attempts: Mapping[int, int]
    oldest_waiting_at: datetime | None
    next_due_at: datetime | None
    sampled_at: datetime

    @property
    def is_whole(self) -> bool:
        return self.looked_at >= self.of


@dataclass(frozen=True, kw_only=True)
class LadderRung:
    """One level. `retry` waits there by default: the first at level 3; null below it, where only applications send.

    `broker_backlog`: messages of all groups on all brokers. `overdue_seconds`: for how long the first of them should
    have been delivered, at least; 0 where it is not due yet or nothing waits. Nulls: `unknown`.
    """

    level: int
    retry: int | None
    delay_seconds: float | None
    broker_backlog: int | None
    sampled: SampledRung | None
    overdue_seconds: float | None
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DelayFinding:
    """Something that keeps delayed messages from coming back. `facts` are the numbers that it was told by, as JSON."""

    broker: str
    sentence: str
    cure: str
    facts: Mapping[str, Any]
    since: datetime | None
    grep: str | None = None


@dataclass(frozen=True, kw_only=True)
class WaitingLevel:
    """A level of the ladder and a moment of it."""

    level: int
    at: datetime


@dataclass(frozen=True, kw_only=True)
class LastAttempts:
    """Sampled messages that wait for their last retry: if it fails they are dead. First of them due at `next_due_at`.

    `max_retries`: null where nothing limits them; `told_by`: who says so. `messages` is null where that is not known.
    """

    messages: int | None
    next_due_at: datetime | None
    max_retries: int | None
    told_by: str | None
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RetryPolicyRow:
    """What a broker's configuration of the group says of the delays of retries 1 to 16, heeded for POP and gRPC only.

    `is_heeded`: whether the group's members pop; null where that is not known.
    """

    kind: str
    delays_seconds: Sequence[float]
    is_heeded: bool | None
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DueRetries:
    """What is due and not consumed: the queues of the group's own retry topics.

    `lag_messages` is null as soon as one of them is not known; `at_least` is then the known sum. `oldest_seconds`: how
    long the first of them has been waiting since it was due.
    """

    queues: int
    lag_messages: int | None
    lag_messages_at_least: int | None
    oldest_seconds: float | None
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class WheelCount:
    """Messages of the group's retry topics in brokers' timer wheels (RocketMQ 5)."""

    messages: int | None
    counted_at: datetime | None
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Ladder:
    """`rungs`: one for each level that some broker has, in order; empty with a reason while none has said its levels.

    `messages`, `oldest_waiting` and `next_to_fire` are of the samples: of `of` messages `looked_at` were looked into.
    """

    rungs: Sequence[LadderRung]
    messages: int | None
    looked_at: int | None
    of: int | None
    oldest_waiting: WaitingLevel | None
    next_to_fire: WaitingLevel | None
    last_attempts: LastAttempts
    due: DueRetries
    policy: RetryPolicyRow | None
    wheel: WheelCount
    findings: Sequence[DelayFinding]
    read_at: datetime | None
    unknown: Mapping[str, str] = field(default_factory=dict)
