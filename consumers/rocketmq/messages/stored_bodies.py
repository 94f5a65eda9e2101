"""Opens stored bodies that their producer compressed (5.4.0, MessageSysFlag, CompressionType). Never more than a limit
comes out, whatever a body claims to hold.
"""

import io
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

import pyarrow as pa

COMPRESSED = 1
COMPRESSION_TYPE_SHIFT, COMPRESSION_TYPE_MASK = 8, 0x7


class Compression(StrEnum):
    NONE = "none"
    ZLIB = "zlib"
    LZ4 = "lz4"
    ZSTD = "zstd"


# 0 is what producers before 5.0 leave there: they have zlib alone.
COMPRESSION_TYPES = {0: Compression.ZLIB, 1: Compression.LZ4, 2: Compression.ZSTD, 3: Compression.ZLIB}


@dataclass(frozen=True)
class OpenedBody:
    """The first bytes of a body as its producer wrote it.

    `size` is the length of all of it, None where it was not opened to its end. With `error` it could not be, and
    `content` is what came out before. `compression` is None for a kind that is not known.
    """

    content: bytes = field(repr=False)
    size: int | None
    truncated: bool
    compression: Compression | None
    error: str | None = None


def opened_body(stored_body: bytes, sys_flag: int, limit_bytes: int) -> OpenedBody:
    """At most `limit_bytes` of the body. A damaged one has its error; nothing is raised."""
    if not sys_flag & COMPRESSED:
        size = len(stored_body)
        return OpenedBody(stored_body[:limit_bytes], size, size > limit_bytes, Compression.NONE)
    kind = sys_flag >> COMPRESSION_TYPE_SHIFT & COMPRESSION_TYPE_MASK
    compression = COMPRESSION_TYPES.get(kind)
    if compression is None:
        unknown = (
            f"The body is compressed in a way that is not known: type {kind}, where zlib, LZ4 and ZSTD are 0 to 3."
        )
        return OpenedBody(b"", None, False, None, unknown)
    content = io.BytesIO()
    error: str | None = None
    try:
        _OPENERS[compression](stored_body, limit_bytes + 1, content)
    except (zlib.error, OSError, pa.ArrowException) as damage:
        error = f"The body is said to be compressed by {compression}, and cannot be opened: {damage}."
    whole = content.getvalue()
    is_open = error is None and len(whole) <= limit_bytes
    return OpenedBody(
        whole[:limit_bytes], len(whole) if is_open else None, len(whole) > limit_bytes, compression, error
    )


def _open_zlib(stored_body: bytes, most: int, content: io.BytesIO) -> None:
    opener = zlib.decompressobj()
    content.write(opener.decompress(stored_body, most))
    if not opener.eof and content.tell() < most:
        raise zlib.error("it is cut short")


def _opener(codec: str) -> Callable[[bytes, int, io.BytesIO], None]:
    """Both are frames, as the tools `lz4` and `zstd` write them (5.4.0, Lz4Compressor, ZstdCompressor)."""

    def open_frames(stored_body: bytes, most: int, content: io.BytesIO) -> None:
        if not stored_body:
            raise OSError("it is empty")
        with pa.CompressedInputStream(pa.BufferReader(stored_body), codec) as stream:
            while content.tell() < most and (piece := stream.read(min(PIECE, most - content.tell()))):
                content.write(piece)

    return open_frames


PIECE = 1 << 16
_OPENERS = {Compression.ZLIB: _open_zlib, Compression.LZ4: _opener("lz4"), Compression.ZSTD: _opener("zstd")}
