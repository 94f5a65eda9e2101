"""An export on its way through Redis: at most eight chunks wait for the reader, and none for long.

The reader gives the writer room for a chunk with each that it takes. A writer that finds no room for a minute ends, as
does one whose reader is gone; a reader whose writer is silent says so. All of it expires by itself.
"""

import contextlib
import secrets
import struct
from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum
from types import TracebackType

import redis

from consumers.dead_letters.redis_client import redis_client

WAITING_CHUNKS = 8
KEPT_SECONDS = 120
# A worker says that it lives so often at least, and is taken for dead after some more.
STEP_SECONDS, ALIVE_SECONDS = 2.0, 20
ROOM_SECONDS = 60.0
PATIENCE_SECONDS = 10.0
_HEAD = struct.Struct(">cq")
_ROOM, _STOP = b"room", b"stop"


class NobodyReads(Exception):
    """The reader is gone, or has taken nothing for a minute."""


class WorkerSilent(Exception):
    """str() is one sentence for the reader."""


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


@dataclass(frozen=True)
class Channel:
    token: str

    @classmethod
    def opened(cls) -> "Channel":
        """With room for the first chunks. Raises RedisDown."""
        channel = cls(secrets.token_urlsafe(18))
        with redis_client() as client:
            client.rpush(channel.room, *[_ROOM] * WAITING_CHUNKS)
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


class ChunkWriter:
    """The worker's end. Raises RedisDown."""

    def __init__(self, channel: Channel, room_seconds: float = ROOM_SECONDS) -> None:
        self._channel, self._room_seconds = channel, room_seconds

    def __enter__(self) -> "ChunkWriter":
        self._stack = contextlib.ExitStack()
        self._client = self._stack.enter_context(redis_client(longest_wait_seconds=STEP_SECONDS))
        self.live()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def live(self) -> None:
        self._client.set(self._channel.alive, 1, ex=ALIVE_SECONDS)

    def put(self, content: bytes, messages: int) -> None:
        """Waits for room. Raises NobodyReads."""
        waited = 0.0
        while (taken := self._client.blpop([self._channel.room], timeout=STEP_SECONDS)) is None:
            self.live()
            waited += STEP_SECONDS
            if waited >= self._room_seconds:
                raise NobodyReads(f"Nobody has read the export for {round(waited)} s.")
        if taken[1] == _STOP:
            raise NobodyReads("The reader of the export is gone.")
        self._push(Chunk(ChunkKind.LINES, messages, content))

    def end(self, messages: int) -> None:
        self._push(Chunk(ChunkKind.END, messages, b""))

    def fail(self, reason: str) -> None:
        self._push(Chunk(ChunkKind.FAILURE, 0, reason.encode()))

    def _push(self, chunk: Chunk) -> None:
        with self._client.pipeline() as pipeline:
            pipeline.rpush(self._channel.chunks, _HEAD.pack(chunk.kind.value, chunk.messages) + chunk.content)
            pipeline.expire(self._channel.chunks, KEPT_SECONDS)
            pipeline.set(self._channel.alive, 1, ex=ALIVE_SECONDS)
            pipeline.execute()


def read_chunks(channel: Channel, patience_seconds: float = PATIENCE_SECONDS) -> Generator[Chunk, None, None]:
    """Ends after an end or a failure. Raises WorkerSilent and RedisDown. Closing it tells the worker to end."""
    with redis_client(longest_wait_seconds=STEP_SECONDS) as client:
        is_over = False
        try:
            while not is_over:
                chunk = _next(client, channel, patience_seconds)
                is_over = chunk.kind is not ChunkKind.LINES
                if not is_over:
                    client.rpush(channel.room, _ROOM)
                    client.expire(channel.room, KEPT_SECONDS)
                yield chunk
        finally:
            # What cannot be taken away expires.
            with contextlib.suppress(redis.exceptions.RedisError):
                _leave(client, channel, is_over)


def _next(client: redis.Redis, channel: Channel, seconds: float) -> Chunk:
    silent = 0.0
    while (taken := client.blpop([channel.chunks], timeout=STEP_SECONDS)) is None:
        silent = 0.0 if client.exists(channel.alive) else silent + STEP_SECONDS
        if silent >= seconds:
            raise WorkerSilent(f"The general worker has not answered for {round(seconds)} s: see that it runs.")
    stored = taken[1]
    assert isinstance(stored, bytes)
    kind, messages = _HEAD.unpack_from(stored)
    return Chunk(ChunkKind(kind), messages, stored[_HEAD.size :])


def _leave(client: redis.Redis, channel: Channel, is_over: bool) -> None:
    client.delete(channel.chunks)
    if is_over:
        client.delete(channel.room, channel.alive)
        return
    client.lpush(channel.room, _STOP)
    client.expire(channel.room, KEPT_SECONDS)
