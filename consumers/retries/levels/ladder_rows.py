"""Rows of the delay levels that hold a group's retries. Each null has its reason beside it.

A level's messages are of all groups: the broker's backlog is counted whole, what of it is this group's is a sample.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from consumers.queries.declared import INSIDE, answer, public
from consumers.queries.findings import DetectedFinding


@answer(
    "Of `of` messages that waited `looked_at` were looked into: `messages` are of the group.\n\n"
    "Both times are null where none is of the group.",
    name="Sampled",
)
@dataclass(frozen=True, kw_only=True)
class SampledRung:
    """`attempts`: {reconsume times: messages}. Times are the brokers'. `sampled_at`: of the brokers' newest samples the
    oldest.
    """

    messages: int
    looked_at: int
    of: int
    attempts: Mapping[int, int] = field(metadata=public("{number of the next retry: messages}"))
    oldest_waiting_at: datetime | None
    next_due_at: datetime | None
    sampled_at: datetime

    @property
    def is_whole(self) -> bool:
        return self.looked_at >= self.of


@answer(name="Rung")
@dataclass(frozen=True, kw_only=True)
class LadderRung:
    """One level. Retries begin at level 3: below it, where only applications send, `retry` is null."""

    level: int
    retry: int | None = field(metadata=public("The retry that uses this level by default"))
    delay_seconds: float | None
    broker_backlog: int | None = field(metadata=public("Messages of all groups on all brokers"))
    sampled: SampledRung | None
    overdue_seconds: float | None = field(metadata=public("How late the first of them is, at least; 0 where none is"))
    unknown: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class WaitingLevel:
    """A level of the ladder and a moment of it."""

    level: int
    at: datetime


@answer("Sampled messages before their last retry: if it fails, they are dead-lettered.")
@dataclass(frozen=True, kw_only=True)
class LastAttempts:
    """`told_by`: who says `max_retries`."""

    messages: int | None
    next_due_at: datetime | None = field(metadata=public("Null with no message too"))
    max_retries: int | None = field(metadata=public("Null too where nothing limits them"))
    told_by: str | None
    unknown: Mapping[str, str] = field(default_factory=dict)


@answer("Delays of retries 1 to 16 by the group's configuration, heeded by members that pop only.", name="Policy")
@dataclass(frozen=True, kw_only=True)
class RetryPolicyRow:
    """What a broker's configuration of the group says of the delays of retries 1 to 16, heeded for POP and gRPC only.

    `is_heeded`: whether the group's members pop; null where that is not known.
    """

    kind: str
    delays_seconds: Sequence[float]
    is_heeded: bool | None
    unknown: Mapping[str, str] = field(default_factory=dict)


@answer("Due and not consumed: the queues of the group's own retry topics.", name="Due", last=("unknown",))
@dataclass(frozen=True, kw_only=True)
class DueRetries:
    """`lag_messages` is null as soon as one of the queues is not known; `…_at_least` is then the known sum."""

    queues: int
    lag_messages: int | None
    lag_messages_at_least: int | None
    oldest_seconds: float | None = field(metadata=public("Since the first of them was due"))
    unknown: Mapping[str, str] = field(default_factory=dict)

    @property
    def unknown_reason(self) -> str | None:
        return self.unknown.get("lag_messages")


@answer(name="Wheel")
@dataclass(frozen=True, kw_only=True)
class WheelCount:
    """Messages of the group's retry topics in brokers' timer wheels (RocketMQ 5)."""

    messages: int | None
    counted_at: datetime | None
    unknown: Mapping[str, str] = field(default_factory=dict)


@answer(
    "Of the samples of all levels together: `messages` of the group among `looked_at` of `of` that waited.",
    name="Waiting",
)
@dataclass(frozen=True, kw_only=True)
class Ladder:
    """`rungs`: one for each level that some broker has, in order; empty with a reason while none has said its levels.

    `messages`, `oldest_waiting` and `next_to_fire` are of the samples: of `of` messages `looked_at` were looked into.
    """

    rungs: Sequence[LadderRung] = field(metadata=INSIDE)
    messages: int | None
    looked_at: int | None
    of: int | None
    oldest_waiting: WaitingLevel | None = field(metadata=public("Null with no message too"))
    next_to_fire: WaitingLevel | None = field(metadata=public("Null with no message too"))
    last_attempts: LastAttempts = field(metadata=INSIDE)
    due: DueRetries = field(metadata=INSIDE)
    policy: RetryPolicyRow | None = field(metadata=INSIDE)
    wheel: WheelCount = field(metadata=INSIDE)
    findings: Sequence[DetectedFinding] = field(metadata=INSIDE)
    read_at: datetime | None = field(metadata=INSIDE)
    unknown: Mapping[str, str] = field(default_factory=dict)
