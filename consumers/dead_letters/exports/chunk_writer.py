"""The worker's end of an export: puts chunks where there is room, and shows that it lives."""

import contextlib
from types import TracebackType

import redis

from consumers.errands.redis_client import redis_client

from .channel import KEPT_SECONDS, STEP_SECONDS, STOP, Channel, Chunk, ChunkKind

# It says that it lives with every call of a broker, and is taken for dead after this.
ALIVE_SECONDS = 20
ROOM_SECONDS = 60.0


class NobodyReads(Exception):
    """The reader is gone, or has taken nothing for a minute."""


class ChunkWriter:
    """The worker's end. Raises RedisDown."""

    def __init__(self, channel: Channel, room_seconds: float = ROOM_SECONDS) -> None:
        self._channel, self._room_seconds = channel, room_seconds
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
            # It expires where it cannot be given back.
            with contextlib.suppress(redis.exceptions.RedisError):
                self._client.delete(self._place)
        self._stack.__exit__(kind, error, trace)

    def take_place(self, most: int) -> bool:
        """Whether fewer than `most` exports go on. The place of one whose worker was killed is free soon after."""
        for place in (f"consumerscope:export-place:{number}" for number in range(most)):
            if self._client.set(place, self._channel.token, nx=True, ex=ALIVE_SECONDS):
                self._place = place
                return True
        return False

    def live(self) -> None:
        self._client.set(self._channel.alive, 1, ex=ALIVE_SECONDS)
        if self._place is not None:
            self._client.set(self._place, self._channel.token, ex=ALIVE_SECONDS)

    def put(self, content: bytes, messages: int) -> None:
        """Waits for room. Raises NobodyReads."""
        waited = 0.0
        while (taken := self._client.blpop([self._channel.room], timeout=STEP_SECONDS)) is None:
            self.live()
            waited += STEP_SECONDS
            if waited >= self._room_seconds:
                raise NobodyReads(f"Nobody has read the export for {round(waited)} s.")
        if taken[1] == STOP:
            raise NobodyReads("The reader of the export is gone.")
        self._push(Chunk(ChunkKind.LINES, messages, content))

    def end(self, messages: int) -> None:
        self._push(Chunk(ChunkKind.END, messages, b""))

    def fail(self, reason: str) -> None:
        self._push(Chunk(ChunkKind.FAILURE, 0, reason.encode()))

    def _push(self, chunk: Chunk) -> None:
        # Not afterwards: the reader of the last chunk takes everything away.
        self.live()
        with self._client.pipeline() as pipeline:
            pipeline.rpush(self._channel.chunks, chunk.packed())
            pipeline.expire(self._channel.chunks, KEPT_SECONDS)
            pipeline.execute()
