"""Message bodies: decompressed, told apart as JSON, text or bytes, and laid out. Never executed."""

import codecs
import io
import json
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

import pyarrow as pa

# Opens stored bodies that their producer compressed (5.4.0, MessageSysFlag, CompressionType). Never more than a limit
# comes out, whatever a body claims to hold.
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


# What a message's body is to a reader: JSON, text or bytes. It is read and never run: a body is anyone's words.
# What no text has: control characters but those that part lines and columns.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")


class BodyKind(StrEnum):
    JSON = "json"  # an object or a list, whole
    TEXT = "text"
    BINARY = "binary"


@dataclass(frozen=True)
class DecodedBody:
    """The first bytes of a body: `text` of JSON and text, `hex` of binary ones. Where nothing came out both are null,
    and `error` says why.

    `size` is the length of the whole body in bytes, null where it was not opened to its end; `shown_bytes` of it are
    here.
    """

    kind: BodyKind | None
    text: str | None = field(repr=False)
    hex: str | None = field(repr=False)
    size: int | None
    shown_bytes: int
    truncated: bool
    compression: Compression | None
    error: str | None


def decoded_body(stored_body: bytes, sys_flag: int, limit_bytes: int) -> DecodedBody:
    """At most `limit_bytes` of the body, opened and told apart. A damaged one has its error; nothing is raised."""
    opened = opened_body(stored_body, sys_flag, limit_bytes)
    content = opened.content
    kind: BodyKind | None
    if opened.error is not None and not content:
        kind, text = None, None
    else:
        is_whole = not opened.truncated and opened.error is None
        kind, text = _kind_and_text(content, is_whole)
    return DecodedBody(
        kind=kind,
        text=text,
        hex=content.hex() if kind is BodyKind.BINARY else None,
        size=opened.size,
        shown_bytes=len(text.encode()) if text is not None else len(content),
        truncated=opened.truncated,
        compression=opened.compression,
        error=opened.error,
    )


def _kind_and_text(content: bytes, is_whole: bool) -> tuple[BodyKind, str | None]:
    try:
        # The end of a part may lie within a character, which is left out then.
        text = codecs.getincrementaldecoder("utf-8")().decode(content, final=is_whole)
    except UnicodeDecodeError:
        return BodyKind.BINARY, None
    if _NO_TEXT.search(text):
        return BodyKind.BINARY, None
    return (BodyKind.JSON if is_whole and is_json(text) else BodyKind.TEXT), text


def is_json(text: str) -> bool:
    """Whether it is an object or a list of JSON. A lone number or word is text."""
    if not text.lstrip(" \t\r\n").startswith(("{", "[")):
        return False
    try:
        json.loads(text, parse_constant=_refuse, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True


def _refuse(word: str) -> None:
    """NaN and Infinity, which Python's parser takes, are not JSON's."""
    raise ValueError(word)


# Lays JSON out in lines, and changes nothing else: numbers, repeated names and escapes stay as they were written.
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')

INDENT = "  "

# Levels beyond are indented no further: a body of nothing but brackets would become many times its size.
DEEPEST = 20


def laid_out(text: str) -> str:
    """`text` must be JSON."""
    tokens = _TOKENS.findall(text)
    lines: list[str] = []
    depth = 0
    for before, token in zip(["", *tokens], tokens, strict=False):
        if token in "}]":
            depth -= 1
            if before not in "{[":
                lines.append(_line(depth))
        elif before in ("{", "[", ","):
            lines.append(_line(depth))
        if token in "{[":
            depth += 1
        lines.append(": " if token == ":" else token)
    return "".join(lines)


def _line(depth: int) -> str:
    return "\n" + INDENT * min(depth, DEEPEST)
