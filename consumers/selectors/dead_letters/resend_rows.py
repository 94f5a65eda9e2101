"""What the selectors say of re-sends. Field names are those of REST; null stands with its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from consumers.models import Destination, ResendOutcome, ResendStatus
from consumers.selectors.public import answer, public


@answer("A re-send of dead letters. What is not known, or is not yet, is null: `unknown` says why.")
@dataclass(frozen=True)
class ResendRow:
    """`expected_seconds`: of what is planned or left. A plan whose time is over is expired, whether or not a worker has
    noted it.
    """

    id: str = field(metadata=public(of=UUID))
    cluster: str
    group: str
    status: str = field(metadata=public(of=ResendStatus))
    destination: str = field(
        metadata=public(
            "group: the group's retry topic, no other group sees it; topic: every group of the topic gets it",
            of=Destination,
        )
    )
    by: str = field(metadata=public("Who planned it"))
    reason: str
    again: bool = field(metadata=public("Messages that were re-sent before are sent once more"))
    rate_per_second: float
    selection: dict[str, Any] = field(
        metadata=public("What was chosen: {messages: [[broker, queue_id, offset]]} or {filter}")
    )
    cancel_wanted: bool
    messages: int
    outcomes: dict[str, int] = field(metadata=public("{outcome: messages}, without those that no message has"))
    expected_seconds: float | None = field(metadata=public("Until its end, at its rate"))
    created_at: datetime
    expires_at: datetime = field(metadata=public("A plan that is not started by then is void"))
    started_at: datetime | None
    working_at: datetime | None = field(metadata=public("When its worker was last seen to work on it"))
    finished_at: datetime | None
    detail: str | None = field(metadata=public("Why it ended before its end"))
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def is_planned(self) -> bool:
        return self.status == ResendStatus.PLANNED

    @property
    def is_running(self) -> bool:
        return self.status == ResendStatus.RUNNING

    @property
    def has_ended(self) -> bool:
        return not self.is_planned and not self.is_running


@answer("What became of one message.")
@dataclass(frozen=True)
class ResendMessageRow:
    broker: str
    queue_id: int
    offset: int = field(metadata=public("Its place among the dead letters, where it stays"))
    message_id: str | None
    outcome: str = field(metadata=public("unknown: it may have been sent, and is not sent again", of=ResendOutcome))
    at: datetime | None
    target_topic: str | None
    target_broker: str | None
    target_queue_id: int | None
    target_offset: int | None
    detail: str | None = field(metadata=public("Why it was not sent, or why that is not known"))
    unknown: dict[str, str] = field(default_factory=dict)
