"""What pulls and looks into a consume queue give."""

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property


@dataclass(frozen=True)
class StoredMessage:
    """A message as it is stored. Times are milliseconds: stored by the broker's clock, born by the producer's.

    `body_bytes` is the length of the stored, perhaps compressed, body; `store_host` the address and port of the broker
    that stored it, as bytes. `flag` is the producer's own.
    """

    topic: str
    queue_id: int
    queue_offset: int
    physical_offset: int
    born_ms: int
    stored_ms: int
    reconsume_times: int
    sys_flag: int
    body_bytes: int
    stored_body: bytes = field(repr=False)
    store_host: bytes
    raw_properties: bytes
    flag: int = 0

    @property
    def stored_id(self) -> str:
        """Where it is stored: what RocketMQ calls its offset message id (5.4.0, MessageDecoder.createMessageId)."""
        return (self.store_host + self.physical_offset.to_bytes(8, "big", signed=True)).hex().upper()

    @cached_property
    def properties(self) -> dict[str, str]:
        """Read when first asked for; most callers want the store time alone. What is no text, or a NUL, which
        PostgreSQL does not store, stands as U+FFFD."""
        text = self.raw_properties.decode(errors="replace").replace("\x00", "\ufffd")
        pairs = (pair.partition("\x01") for pair in text.split("\x02"))
        return {name: value for name, separator, value in pairs if separator}


class PullOutcome(StrEnum):
    FOUND = "found"
    # The offset is the queue's end.
    NO_MESSAGE_YET = "no message yet"
    # The broker has no message at this offset and names another one.
    MOVED = "moved"
    # What is at this offset cannot be read at present, for example as it is being removed.
    RETRY = "retry"


@dataclass(frozen=True)
class Pulled:
    """`next_offset` is where the broker says to go on; the ends of the queue are null where it did not tell."""

    outcome: PullOutcome
    messages: tuple[StoredMessage, ...]
    next_offset: int
    min_offset: int | None
    max_offset: int | None


@dataclass(frozen=True)
class QueueEntry:
    """One entry of a consume queue. `tags_code` is Java's hash of the message's tags, 0 without any; None where the
    entry keeps an address of an extension in its place."""

    physical_offset: int
    size: int
    tags_code: int | None


@dataclass(frozen=True)
class QueueEntries:
    """The ends of the queue are null where it has no entry at the index."""

    entries: tuple[QueueEntry, ...]
    min_offset: int | None
    max_offset: int | None
