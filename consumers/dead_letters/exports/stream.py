"""The reader's part of an export: a chunk at a time goes to whoever asked, and a last line where it is not whole."""

from collections.abc import Generator, Iterator
from itertools import chain

from consumers.errands.redis_client import RedisDown

from .channel import Channel, Chunk, ChunkKind
from .chunk_reader import PATIENCE_SECONDS, WorkerSilent, read_chunks
from .lines import lines_of
from .rows import columns_of
from .wanted import ExportFailed, ExportWanted


def streamed(
    channel: Channel, wanted: ExportWanted, patience_seconds: float = PATIENCE_SECONDS
) -> Generator[bytes, None, None]:
    """Waits for the first chunk. Raises ExportFailed where there is none: nothing was sent to anybody yet."""
    chunks = read_chunks(channel, patience_seconds)
    try:
        first = next(chunks)
    except (WorkerSilent, RedisDown) as error:
        raise ExportFailed(str(error)) from None
    if first.kind is ChunkKind.FAILURE:
        raise ExportFailed(first.reason)
    rest = _rest(first, chunks, wanted)
    # A generator that was never begun does not tell the worker when it is closed.
    next(rest)
    return rest


def _rest(first: Chunk, chunks: Generator[Chunk, None, None], wanted: ExportWanted) -> Generator[bytes, None, None]:
    messages = 0
    reason = None
    try:
        yield b""
        for chunk in chain([first], chunks):
            if chunk.kind is ChunkKind.LINES:
                messages += chunk.messages
                yield from _content(chunk)
            else:
                reason = _reason(chunk, messages)
    except (WorkerSilent, RedisDown) as error:
        reason = str(error)
    finally:
        chunks.close()
    if reason is not None:
        lines = lines_of(wanted.format, columns_of(with_bodies=wanted.with_bodies))
        yield lines.incomplete(reason, messages).encode()


def _content(chunk: Chunk) -> Iterator[bytes]:
    if chunk.content:
        yield chunk.content


def _reason(chunk: Chunk, messages: int) -> str | None:
    """Why it is not whole; None where it is."""
    if chunk.kind is ChunkKind.FAILURE:
        return chunk.reason
    lost = chunk.messages - messages
    return f"{lost} messages were lost on the way: they waited too long to be read." if lost else None
