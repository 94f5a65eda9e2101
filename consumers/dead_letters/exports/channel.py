"""An export on its way through Redis: at most eight chunks wait for the reader, and none for long.

The reader gives the writer room for a chunk with each that it takes. A writer that finds no room for a minute ends, as
does one whose reader is gone; a reader whose writer is silent says so. All of it expires by itself.
"""

import secrets
import struct
from dataclasses import dataclass
from enum import Enum

from consumers.errands.redis_client import redis_client

WAITING_CHUNKS = 8
KEPT_SECONDS = 120
STEP_SECONDS = 2.0
ROOM, STOP = b"room", b"stop"
_HEAD = struct.Struct(">cq")


class ChunkKind(Enum):
    LINES = b"L"
    END = b"E"
    FAILURE = b"F"


@dataclass(frozen=True)
class Chunk:
    """`messages` are in it, or at the end of all of them; the content of a failure is its reason."""

    kind: ChunkKind
    messages: int
    content: bytes

    @property
    def reason(self) -> str:
        return self.content.decode()

    def packed(self) -> bytes:
        return _HEAD.pack(self.kind.value, self.messages) + self.content

    @classmethod
    def of_packed(cls, stored: bytes) -> "Chunk":
        kind, messages = _HEAD.unpack_from(stored)
        return cls(ChunkKind(kind), messages, stored[_HEAD.size :])


@dataclass(frozen=True)
class Channel:
    token: str

    @classmethod
    def opened(cls) -> "Channel":
        """With room for the first chunks. Raises RedisDown."""
        channel = cls(secrets.token_urlsafe(18))
        with redis_client() as client:
            client.rpush(channel.room, *[ROOM] * WAITING_CHUNKS)
            client.expire(channel.room, KEPT_SECONDS)
        return channel

    @property
    def chunks(self) -> str:
        return f"consumerscope:export:{self.token}:chunks"

    @property
    def room(self) -> str:
        return f"consumerscope:export:{self.token}:room"

    @property
    def alive(self) -> str:
        return f"consumerscope:export:{self.token}:alive"
