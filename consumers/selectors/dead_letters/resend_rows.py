"""What the selectors say of re-sends. Field names are those of REST; null stands with its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from consumers.models import ResendStatus


@dataclass(frozen=True)
class ResendRow:
    """`outcomes`: {outcome: messages}, without those that no message has. `expected_seconds`: of what is planned or
    left, at its rate. A plan whose time is over is expired, whether or not a worker has noted it.
    """

    id: str
    cluster: str
    group: str
    status: str
    destination: str
    by: str
    reason: str
    again: bool
    rate_per_second: float
    selection: dict[str, Any]
    cancel_wanted: bool
    messages: int
    outcomes: dict[str, int]
    expected_seconds: float | None
    created_at: datetime
    expires_at: datetime
    started_at: datetime | None
    working_at: datetime | None
    finished_at: datetime | None
    detail: str | None
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


@dataclass(frozen=True)
class ResendMessageRow:
    """One message of a re-send. `detail`: why it was not sent, or why that is not known."""

    broker: str
    queue_id: int
    offset: int
    message_id: str | None
    outcome: str
    at: datetime | None
    target_topic: str | None
    target_broker: str | None
    target_queue_id: int | None
    target_offset: int | None
    detail: str | None
    unknown: dict[str, str] = field(default_factory=dict)
