"""A .mo file made of translations, as GNU gettext's manual describes it (The Format of GNU MO Files)."""

import struct
from collections.abc import Iterable

from .po import Translation

MAGIC, VERSION, HEAD = 0x950412DE, 0, 7 * 4


def compiled(translations: Iterable[Translation]) -> bytes:
    """The same bytes for the same texts. What has no translation is left out: gettext then answers the msgid."""
    pairs = sorted((_key(one), one.text.encode()) for one in translations if one.text and not one.is_fuzzy)
    keys, texts = [key for key, _text in pairs], [text for _key, text in pairs]
    tables = 2 * 8 * len(pairs)
    first = HEAD + tables
    places_of_keys, behind = _places(keys, first)
    places_of_texts, _end = _places(texts, behind)
    head = struct.pack("<7I", MAGIC, VERSION, len(pairs), HEAD, HEAD + tables // 2, 0, first)
    return b"".join([head, *places_of_keys, *places_of_texts, *(one + b"\0" for one in (*keys, *texts))])


def _key(one: Translation) -> bytes:
    return (f"{one.key}\0{one.plural}" if one.plural else one.key).encode()


def _places(words: list[bytes], start: int) -> tuple[list[bytes], int]:
    """Each word's length and offset, and where the next table's words begin: a zero byte ends each word."""
    places = []
    for word in words:
        places.append(struct.pack("<2I", len(word), start))
        start += len(word) + 1
    return places, start
