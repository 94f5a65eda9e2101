"""What the selectors say of all groups together."""

from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import HealthLevel, State, TimeLagKind
from consumers.selectors.groups.rows import GroupRow, KnownPart
from consumers.selectors.queues.lost_offsets import BrokerLoss
from consumers.selectors.retries.checks.condition_rows import FailingGroup


@dataclass(frozen=True)
class WorstGroup:
    """A group that needs attention, and the parts of the sentence that says why."""

    row: GroupRow
    parts: list[str]


@dataclass(frozen=True)
class Change:
    """A group went from one state to another; `before` is null at its first judgement."""

    at: datetime
    cluster: str
    group: str
    before: State | None
    after: State
    sentence: str


@dataclass(frozen=True)
class UnknownCause:
    """One cause and how many groups it keeps from being known. `broker` is null where no broker is the cause.

    `cluster` names several, with commas, where one cause concerns them all.
    """

    cause: str
    cluster: str
    broker: str | None
    since: datetime | None
    groups: int


@dataclass(frozen=True)
class Overview:
    """`counts` are of groups by state, `health` by level. `lag_messages` is null as soon as one group's is unknown;
    `lag_messages_at_least` is then the known sum.

    `time_lag_seconds` is the longest that is known, `at_least` where one is unknown; `oldest_group` has it. `failing`:
    what loses failed messages or holds queues up, and brokers that are closed, whatever their groups' states. `losses`:
    brokers from which committed offsets are gone, whatever else is known of their groups.
    """

    counts: dict[State, int]
    health: dict[HealthLevel, int]
    groups: int
    lag_messages: int | None
    lag_messages_at_least: int | None
    time_lag_seconds: float | None
    time_lag_kind: TimeLagKind
    oldest_group: GroupRow | None
    dlq_messages: int | None
    dlq_day_messages: int | None
    worst: list[WorstGroup]
    causes: list[UnknownCause]
    losses: list[BrokerLoss]
    failing: list[FailingGroup]
    changes: list[Change]
    unknown_reason: str | None
    unknown: dict[str, str] = field(default_factory=dict)
    known_parts: dict[str, KnownPart] = field(default_factory=dict)

    @property
    def time_lag_at(self) -> datetime | None:
        return None if self.oldest_group is None else self.oldest_group.time_lag_at
