"""What a look at one dead letter gives, and how it travels: as JSON, through Redis, never onto a disk."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from consumers.rocketmq.messages.bodies import BodyKind, DecodedBody
from consumers.rocketmq.messages.dead_messages import DeadMessage
from consumers.rocketmq.messages.stored_bodies import Compression

TIMES = ("born_at", "stored_at")


@dataclass(frozen=True)
class MessagePlace:
    """A dead letter of a group: topics other than the group's own dead letters have no place here."""

    cluster: str
    group: str
    broker: str
    queue_id: int
    offset: int

    def __str__(self) -> str:
        return f"{self.cluster}/{self.group}: {self.broker}/{self.queue_id} at {self.offset}"


@dataclass(frozen=True)
class Property:
    """`value` is null where the look was without content and the property is the producer's own."""

    name: str
    value: str | None
    is_system: bool


@dataclass(frozen=True)
class Look:
    """`body` is null where the look was without content."""

    at: datetime
    message: DeadMessage
    properties: tuple[Property, ...]
    body: DecodedBody | None

    def as_json(self) -> str:
        return json.dumps(asdict(self), default=datetime.isoformat)

    @classmethod
    def of_json(cls, text: str) -> "Look":
        said = json.loads(text)
        message = said["message"] | {name: datetime.fromisoformat(said["message"][name]) for name in TIMES}
        return cls(
            at=datetime.fromisoformat(said["at"]),
            message=DeadMessage(**message),
            properties=tuple(Property(**one) for one in said["properties"]),
            body=None if said["body"] is None else _body(said["body"]),
        )


def _body(said: dict[str, Any]) -> DecodedBody:
    kind, compression = said["kind"], said["compression"]
    enums = {
        "kind": None if kind is None else BodyKind(kind),
        "compression": None if compression is None else Compression(compression),
    }
    return DecodedBody(**(said | enums))
