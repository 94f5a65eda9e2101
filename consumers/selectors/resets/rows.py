"""What the selectors say of resets. Field names are those of REST; null stands with its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from consumers.models import ResetStatus

from .totals_rows import ResetTotals


@dataclass(frozen=True)
class SeenBroker:
    """A master as the plan saw it. `server_side`: it moves offsets itself. `permission`: 4 (read) + 2 (write)."""

    name: str
    version: str | None
    server_side: bool | None
    permission: int | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SeenGroup:
    """The group as the plan saw it. `members` are client ids; none at all: the group was offline."""

    members: list[str] | None
    orderly: bool | None
    message_model: str | None
    consume_type: str | None
    brokers: list[SeenBroker]
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ResetRow:
    """`kind` and `value` are what was wanted, see `ResetKind`; `topics`, `brokers` and `chosen_queues` where: null is
    all. A plan whose time is over is expired, whether or not a worker has noted it. `restores` is the id of the reset
    that it undoes, `restored_by` those of the resets that undo it. `seconds`: since it was started, to its end.
    `totals` and `seen` are null where there is no plan.
    """

    id: str
    cluster: str
    group: str
    status: str
    kind: str
    value: Any
    topics: list[str] | None
    brokers: list[str] | None
    chosen_queues: list[dict[str, Any]] | None
    clip: bool
    by: str
    reason: str
    applied_by: str | None
    created_at: datetime
    planned_at: datetime | None
    expires_at: datetime | None
    started_at: datetime | None
    working_at: datetime | None
    finished_at: datetime | None
    seconds: float | None
    restores: str | None
    restored_by: list[str]
    warnings: list[str]
    moved: list[str] | None
    error: str | None
    seen: SeenGroup | None
    totals: ResetTotals | None
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def is_planning(self) -> bool:
        return self.status == ResetStatus.PLANNING

    @property
    def is_planned(self) -> bool:
        return self.status == ResetStatus.PLANNED

    @property
    def is_applying(self) -> bool:
        return self.status == ResetStatus.APPLYING

    @property
    def has_ended(self) -> bool:
        return not (self.is_planning or self.is_planned or self.is_applying)


@dataclass(frozen=True)
class OffsetReading:
    """`offset` null: the broker said that nothing is committed there."""

    at: datetime
    offset: int | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ResetQueueRow:
    """One queue of a reset. `now` is where it stood at the plan, `before` right before it was written, `after` where it
    was read last. `wanted` is the target before it was clipped. `left_out`: why it is not touched; null where it is.
    """

    topic: str
    broker: str
    queue_id: int
    min_offset: int | None
    max_offset: int | None
    now: int | None
    wanted: int | None
    target: int | None
    clipped: bool
    target_time: datetime | None
    replayed_messages: int | None
    skipped_messages: int | None
    restorable: bool
    method: str | None
    left_out: str | None
    step: str
    before: int | None
    before_at: datetime | None
    written_at: datetime | None
    answered: int | None
    error: str | None
    readings: list[OffsetReading]
    after: int | None
    after_at: datetime | None
    outcome: str | None
    evidence: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ResetEventRow:
    """One act. `by` and `address` are null where a worker did it by itself."""

    at: datetime
    by: str | None
    address: str | None
    via: str
    sentence: str
    unknown: dict[str, str] = field(default_factory=dict)
