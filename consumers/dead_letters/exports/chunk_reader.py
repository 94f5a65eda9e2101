"""The reader's end of an export: takes chunks, gives room for others, and tells a worker that is gone."""

import contextlib
from collections.abc import Generator

import redis

from consumers.errands.redis_client import redis_client

from .channel import KEPT_SECONDS, ROOM, STEP_SECONDS, STOP, Channel, Chunk, ChunkKind

PATIENCE_SECONDS = 10.0


class WorkerSilent(Exception):
    """str() is one sentence for the reader."""


def read_chunks(channel: Channel, patience_seconds: float = PATIENCE_SECONDS) -> Generator[Chunk, None, None]:
    """Ends after an end or a failure. Raises WorkerSilent and RedisDown. Closing it tells the worker to end."""
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
    return Chunk.of_packed(stored)


def _leave(client: redis.Redis, channel: Channel, is_over: bool) -> None:
    client.delete(channel.chunks)
    if is_over:
        client.delete(channel.room, channel.alive)
        return
    client.lpush(channel.room, STOP)
    client.expire(channel.room, KEPT_SECONDS)
