"""What the selectors say of dead letters. Field names are those of REST; null stands with its reason beside it."""

from dataclasses import dataclass, field
from datetime import datetime

from consumers.models import ResendOutcome
from consumers.selectors.public import answer, public

from .filters import MAYBE_SENT

TRIED = (*MAYBE_SENT, ResendOutcome.FAILED)


@dataclass(frozen=True)
class Resent:
    """One try to send a letter again. `result`: sending, sent, failed or unknown, which is: it may have been sent."""

    at: datetime
    by: str
    result: str = field(metadata=public(of=[(outcome.value, outcome.label) for outcome in TRIED]))
    resend: str = field(metadata=public("The id of the re-send"))


@answer("A dead letter without its body. What it does not say is null: `unknown` says why.")
@dataclass(frozen=True)
class DeadLetterRow:
    """`resent` is newest first."""

    broker: str
    queue_id: int
    offset: int
    stored_id: str = field(metadata=public("Where it is stored: address of the broker and offset there"))
    message_id: str | None = field(metadata=public("Its producer's, the same at every attempt"))
    origin_topic: str | None
    origin_message_id: str | None
    keys: str | None = field(metadata=public("Separated by spaces"))
    tags: str | None
    reconsume_times: int
    born_at: datetime
    stored_at: datetime
    size: int = field(metadata=public("Bytes of the stored body"))
    sent_by_application: bool | None = field(metadata=public("It died before its retries were used up"))
    resent: list[Resent]
    unknown: dict[str, str] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """As a re-send names it."""
        return f"{self.broker}/{self.queue_id}/{self.offset}"


@answer("`unknown_reason` says why the list is not, or may not be, whole; null where it is.")
@dataclass(frozen=True)
class Completeness:
    """`looked_at` is its oldest good look. `messages` is null where a queue could not be read."""

    messages: int | None = field(metadata=public("In the dead-letter queues of the group"))
    indexed_messages: int | None = field(metadata=public("Those that a list can hold: the newest"))
    looked_at: datetime | None = field(metadata=public("As of when"))
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
