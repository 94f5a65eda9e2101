"""What a message's body is to a reader: JSON, text or bytes. It is read and never run: a body is anyone's words."""

import codecs
import json
import re
from dataclasses import dataclass, field
from enum import StrEnum

from .stored_bodies import Compression, opened_body

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
