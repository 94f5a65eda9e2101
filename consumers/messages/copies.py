"""What a look-up of one message finds on the brokers: its stored copies, as JSON through Redis. No body is kept."""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from consumers.rocketmq.bodies.config_bodies import SCHEDULE_TOPIC
from consumers.rocketmq.messages.dead import ORIGIN_MESSAGE_IDS, ORIGIN_TOPICS, RESEND_PROPERTY
from consumers.rocketmq.messages.stored import StoredMessage
from consumers.rocketmq.wire.codes import RemoteProtocolError, time_of

TIMES = ("born_at", "stored_at", "due_at")


@dataclass(frozen=True)
class QueuePlace:
    topic: str
    broker: str
    queue_id: int


@dataclass(frozen=True)
class StoredCopy:
    """One stored message. Null is: the message does not say. `digest` is of its stored body: equal bodies have equal
    ones. `real_topic`: of a copy on a delay level, where it goes at `due_at`. `resent`: this product sent it again.
    """

    place: QueuePlace
    offset: int
    stored_id: str
    message_id: str | None
    keys: str | None
    tags: str | None
    origin_topic: str | None
    origin_message_id: str | None
    real_topic: str | None
    reconsume_times: int
    born_at: datetime
    stored_at: datetime
    due_at: datetime | None
    digest: str
    resent: bool

    @property
    def is_delayed(self) -> bool:
        return self.place.topic == SCHEDULE_TOPIC

    @property
    def identity(self) -> str:
        """Equal for all copies of one message: its producer's id, else where the first one was stored."""
        return self.message_id or self.origin_message_id or self.stored_id


@dataclass(frozen=True)
class SearchedPlace:
    """A topic's index on one broker. `code` null: it was searched; else why not, with its `params`."""

    topic: str
    broker: str
    found: int
    code: str | None = None
    params: dict[str, Any] | None = None


@dataclass(frozen=True)
class QueueOffset:
    """The group's committed offset when asked; null: it has none there, or `code` with `params` says why not."""

    place: QueuePlace
    offset: int | None
    code: str | None = None
    params: dict[str, Any] | None = None


@dataclass(frozen=True)
class FoundCopies:
    """`others`: messages of the same topics that share a key and have another id. `calls`: how many were made."""

    at: datetime
    wanted: str
    copies: tuple[StoredCopy, ...]
    others: tuple[StoredCopy, ...]
    searched: tuple[SearchedPlace, ...]
    offsets: tuple[QueueOffset, ...]
    calls: int

    def as_json(self) -> str:
        return json.dumps(asdict(self), default=datetime.isoformat)

    @classmethod
    def of_json(cls, text: str) -> "FoundCopies":
        said = json.loads(text)
        return cls(
            at=datetime.fromisoformat(said["at"]),
            wanted=said["wanted"],
            copies=tuple(map(_copy, said["copies"])),
            others=tuple(map(_copy, said["others"])),
            searched=tuple(SearchedPlace(**one) for one in said["searched"]),
            offsets=tuple(QueueOffset(**(one | {"place": QueuePlace(**one["place"])})) for one in said["offsets"]),
            calls=said["calls"],
        )


def _copy(said: dict[str, Any]) -> StoredCopy:
    times = {name: None if said[name] is None else datetime.fromisoformat(said[name]) for name in TIMES}
    return StoredCopy(**(said | times | {"place": QueuePlace(**said["place"])}))


def copy_of(message: StoredMessage, broker: str, due_at: datetime | None = None) -> StoredCopy:
    """Raises RemoteProtocolError where it bears a time that no calendar has: its producer sets one of them."""
    born_at, stored_at = time_of(message.born_ms), time_of(message.stored_ms)
    if born_at is None or stored_at is None:
        raise RemoteProtocolError(f"the message at {message.queue_offset} bears a time that no calendar has")
    said = message.properties
    return StoredCopy(
        place=QueuePlace(message.topic, broker, message.queue_id),
        offset=message.queue_offset,
        stored_id=message.stored_id,
        message_id=said.get("UNIQ_KEY"),
        keys=said.get("KEYS"),
        tags=said.get("TAGS"),
        origin_topic=next((said[name] for name in ORIGIN_TOPICS if name in said), None),
        origin_message_id=next((said[name] for name in ORIGIN_MESSAGE_IDS if name in said), None),
        real_topic=said.get("REAL_TOPIC"),
        reconsume_times=message.reconsume_times,
        born_at=born_at,
        stored_at=stored_at,
        due_at=due_at,
        digest=hashlib.blake2b(message.stored_body, digest_size=16).hexdigest(),
        resent=RESEND_PROPERTY in said,
    )
