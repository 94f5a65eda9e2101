"""Transfers an export from worker to reader through Redis: at most eight chunks wait at a time, and none for long."""

import contextlib
import math
import secrets
import struct
from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum
from types import TracebackType

import redis
from django.utils.translation import gettext

from consumers.jobs.asking import redis_client

# The reader gives the writer room for one chunk with each chunk that it takes. A writer without room for a minute
# stops, and so does one whose reader is gone; a reader whose writer is silent reports that. All keys expire.
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
    """`messages`: how many the chunk has, or at the end, how many all chunks have; the content of a failure is its
    reason.
    """

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
        """Opens the channel, with room for the first chunks. Raises RedisDown."""
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


# The reader's side: takes chunks, makes room for others, and tells the worker when the reader is gone.
PATIENCE_SECONDS = 10.0


class WorkerSilent(Exception):
    """str() is one sentence for the reader."""


def read_chunks(channel: Channel, patience_seconds: float = PATIENCE_SECONDS) -> Generator[Chunk, None, None]:
    """Stops after an end or a failure. Raises WorkerSilent and RedisDown. Closing the generator tells the worker to
    stop.
    """
    with redis_client(longest_wait_seconds=STEP_SECONDS) as client:
        is_over = False
        try:
            while not is_over:
                chunk = _next(client, channel, patience_seconds)
                is_over = chunk.kind is not ChunkKind.LINES
                if not is_over:
                    client.rpush(channel.room, ROOM)
                    client.expire(channel.room, KEPT_SECONDS)
                yield chunk
        finally:
            # Keys that cannot be deleted expire.
            with contextlib.suppress(redis.exceptions.RedisError):
                _leave(client, channel, is_over)


def _next(client: redis.Redis, channel: Channel, seconds: float) -> Chunk:
    silent = 0.0
    while (taken := client.blpop([channel.chunks], timeout=STEP_SECONDS)) is None:
        silent = 0.0 if client.exists(channel.alive) else silent + STEP_SECONDS
        if silent >= seconds:
            raise WorkerSilent(
                gettext("The general worker has not answered for %(seconds)s s. Check that it runs.")
                % {"seconds": round(seconds)}
            )
    stored = taken[1]
    assert isinstance(stored, bytes)
    return Chunk.of_packed(stored)


def _leave(client: redis.Redis, channel: Channel, is_over: bool) -> None:
    client.delete(channel.chunks)
    if is_over:
        client.delete(channel.room, channel.alive)
        return
    client.lpush(channel.room, STOP)
    client.expire(channel.room, KEPT_SECONDS)


# The worker's side: puts chunks where there is room, and sends heartbeats.
# It sends a heartbeat with every call to a broker, and counts as dead after this time without one; after more where
# a call may take long.
ALIVE_SECONDS = 20
SPARE_SECONDS = 10

ROOM_SECONDS = 60.0


class NobodyReads(Exception):
    """The reader is gone, or has taken nothing for a minute."""


class ChunkWriter:
    """The worker's side of the channel. Raises RedisDown."""

    def __init__(self, channel: Channel, room_seconds: float = ROOM_SECONDS, call_seconds: float = 0.0) -> None:
        self._channel, self._room_seconds = channel, room_seconds
        self._alive_seconds = max(ALIVE_SECONDS, math.ceil(call_seconds) + SPARE_SECONDS)
        self._place: str | None = None

    def __enter__(self) -> "ChunkWriter":
        self._stack = contextlib.ExitStack()
        self._client = self._stack.enter_context(redis_client(longest_wait_seconds=STEP_SECONDS))
        self.live()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._place is not None:
            # A place that cannot be released expires.
            with contextlib.suppress(redis.exceptions.RedisError):
                self._client.delete(self._place)
        self._stack.__exit__(kind, error, trace)

    def take_place(self, most: int) -> bool:
        """Takes one of `most` places for exports; False where none is free. The place of a killed worker becomes free
        soon after.
        """
        for place in (f"consumerscope:export-place:{number}" for number in range(most)):
            if self._client.set(place, self._channel.token, nx=True, ex=self._alive_seconds):
                self._place = place
                return True
        return False

    def live(self) -> None:
        self._client.set(self._channel.alive, 1, ex=self._alive_seconds)
        if self._place is not None:
            self._client.set(self._place, self._channel.token, ex=self._alive_seconds)

    def put(self, content: bytes, messages: int) -> None:
        """Puts a chunk, waiting for room. Raises NobodyReads."""
        waited = 0.0
        while (taken := self._client.blpop([self._channel.room], timeout=STEP_SECONDS)) is None:
            self.live()
            waited += STEP_SECONDS
            if waited >= self._room_seconds:
                raise NobodyReads(gettext("Nobody has read the export for %(seconds)s s.") % {"seconds": round(waited)})
        if taken[1] == STOP:
            raise NobodyReads(gettext("The reader of the export has disconnected."))
        self._push(Chunk(ChunkKind.LINES, messages, content))

    def end(self, messages: int) -> None:
        self._push(Chunk(ChunkKind.END, messages, b""))

    def fail(self, reason: str) -> None:
        self._push(Chunk(ChunkKind.FAILURE, 0, reason.encode()))

    def _push(self, chunk: Chunk) -> None:
        # Not after the last chunk: its reader deletes all keys.
        self.live()
        with self._client.pipeline() as pipeline:
            pipeline.rpush(self._channel.chunks, chunk.packed())
            pipeline.expire(self._channel.chunks, KEPT_SECONDS)
            pipeline.execute()
