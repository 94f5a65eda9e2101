"""Rows of resets. Field names are those of REST; null has its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from consumers.models import ResetKind, ResetMethod, ResetOutcome, ResetStatus, ResetStep
from consumers.queries.declared import answer, public


# The sums over the queues of one reset.
@answer("Sums over the queues of a reset. One that some queue does not give is null; `…_at_least` is what is known.")
@dataclass(frozen=True)
class ResetTotals:
    """`replayed_messages` and `skipped_messages` are null where one of the queues to move does not say. Target times
    are of the first messages that will be consumed, as far as they were read. `steps` and `outcomes` leave out what no
    queue has, and queues that are not touched.
    """

    queues: int = field(metadata=public("Chosen"))
    left_out: int = field(metadata=public("Of them are not touched"))
    standing: int = field(metadata=public("Of them are at their target already"))
    moving: int = field(metadata=public("Of them are to be moved: the rest"))
    done: int = field(metadata=public("Of those to be moved are over with, well or not"))
    clipped: int = field(metadata=public("Their targets were moved to the nearer end of the queue"))
    restorable: int
    not_restorable: int = field(metadata=public("To be moved, and without an offset to return to"))
    replayed_messages: int | None
    replayed_messages_at_least: int | None
    skipped_messages: int | None
    skipped_messages_at_least: int | None
    replayed_in_fact: int | None = field(
        metadata=public("Of the confirmed queues, from where each stood right before it was written")
    )
    skipped_in_fact: int | None
    earliest_target_time: datetime | None
    latest_target_time: datetime | None
    queues_with_target_time: int = field(metadata=public("Of so many queues the message at the target was read"))
    methods: dict[str, int] = field(metadata=public("{method: queues}"))
    steps: dict[str, int] = field(metadata=public("{step: queues}"))
    outcomes: dict[str, int] = field(metadata=public("{outcome: queues}"))
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SeenBroker:
    """A master as the plan saw it."""

    name: str
    version: str | None
    server_side: bool | None = field(metadata=public("It moves offsets itself"))
    permission: int | None = field(metadata=public("A sum of 4 (read) and 2 (write)"))
    unknown: dict[str, str] = field(default_factory=dict)


@answer("The group as the plan saw it.")
@dataclass(frozen=True)
class SeenGroup:
    """No member at all: the group was offline."""

    members: list[str] | None = field(metadata=public("Client ids"))
    orderly: bool | None
    message_model: str | None
    consume_type: str | None
    brokers: list[SeenBroker]
    unknown: dict[str, str] = field(default_factory=dict)


@answer("An offset reset. What is not known, or is not yet, is null: `unknown` says why.")
@dataclass(frozen=True)
class ResetRow:
    """`kind` and `value` are what was wanted, see `ResetKind`; `topics`, `brokers` and `chosen_queues` where: null is
    all. A plan whose time is over is expired, whether or not a worker has noted it. `totals` and `seen` are null where
    there is no plan.
    """

    id: str = field(metadata=public(of=UUID))
    cluster: str
    group: str
    status: str = field(metadata=public(of=ResetStatus))
    kind: str = field(metadata=public(of=ResetKind))
    value: Any = field(metadata=public("What `kind` wants to know"))
    topics: list[str] | None
    brokers: list[str] | None
    chosen_queues: list[dict[str, Any]] | None = field(metadata=public("[{topic, broker, queue_id}]"))
    clip: bool = field(metadata=public("Targets outside min..max are moved to the nearer end"))
    by: str = field(metadata=public("Who planned it"))
    reason: str
    applied_by: str | None
    created_at: datetime
    planned_at: datetime | None
    expires_at: datetime | None = field(metadata=public("A plan that is not applied by then is void"))
    started_at: datetime | None
    working_at: datetime | None = field(metadata=public("When its worker was last seen to work on it"))
    finished_at: datetime | None
    seconds: float | None = field(metadata=public("Since it was started, to its end"))
    restores: str | None = field(metadata=public("The reset that it undoes", of=UUID))
    restored_by: list[str] = field(metadata=public("The resets that undo it", of=UUID))
    warnings: list[str] = field(metadata=public("What will happen, and to whom"))
    moved: list[str] | None = field(metadata=public("What had moved since the plan, so that it stopped"))
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


@answer("One queue: what the plan says of it, and what became of it.")
@dataclass(frozen=True)
class ResetQueueRow:
    """`after` is where it was read last. `left_out` is null where it is touched."""

    topic: str
    broker: str
    queue_id: int
    min_offset: int | None
    max_offset: int | None
    now: int | None = field(metadata=public("Where it stood at the plan"))
    wanted: int | None = field(metadata=public("The target before it was clipped"))
    target: int | None
    clipped: bool
    target_time: datetime | None = field(metadata=public("When the first message that will be consumed was stored"))
    replayed_messages: int | None
    skipped_messages: int | None
    restorable: bool = field(metadata=public("false: it had no offset to return to"))
    method: str | None = field(metadata=public(of=ResetMethod))
    left_out: str | None = field(metadata=public("Why it is not touched"))
    step: str = field(metadata=public(of=ResetStep))
    before: int | None = field(metadata=public("Where it stood right before it was written"))
    before_at: datetime | None
    written_at: datetime | None
    answered: int | None = field(metadata=public("The offset that the broker's answer named"))
    error: str | None
    readings: list[OffsetReading] = field(metadata=public("Read back: each that differs from the one before"))
    after: int | None
    after_at: datetime | None
    outcome: str | None = field(metadata=public(of=ResetOutcome))
    evidence: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ResetEventRow:
    """One act. `by` and `address` are null where a worker did it by itself."""

    at: datetime
    by: str | None
    address: str | None = field(metadata=public("Where the request came from"))
    via: str = field(metadata=public("page, rest or worker"))
    sentence: str
    unknown: dict[str, str] = field(default_factory=dict)
