"""What the selectors say of dead letters. Field names are those of REST; null stands with its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True)
class Resent:
    """One try to send a letter again. `result`: sending, sent, failed or unknown, which is: it may have been sent."""

    at: datetime
    by: str
    result: str
    resend: str


@dataclass(frozen=True)
class DeadLetterRow:
    """`keys` are separated by spaces; `size` is of the stored body in bytes; `resent` is newest first."""

    broker: str
    queue_id: int
    offset: int
    stored_id: str
    message_id: str | None
    origin_topic: str | None
    origin_message_id: str | None
    keys: str | None
    tags: str | None
    reconsume_times: int
    born_at: datetime
    stored_at: datetime
    size: int
    sent_by_application: bool | None
    resent: list[Resent]
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """As a re-send names it."""
        return f"{self.broker}/{self.queue_id}/{self.offset}"


@dataclass(frozen=True)
class Completeness:
    """How much of a group's dead letters is listed, as of `looked_at`, its oldest good look.

    `messages` are all there are in its queues; null where one of them could not be read. `unknown_reason` says why the
    list is not, or may not be, whole; null where it is.
    """

    messages: int | None
    indexed_messages: int | None
    looked_at: datetime | None
    unknown_reason: str | None
    unknown: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DeadLetterPage:
    """`count` of the letters that the filters choose; `page` from 1 of `pages`."""

    rows: list[DeadLetterRow]
    count: int
    page: int
    pages: int
    completeness: Completeness
