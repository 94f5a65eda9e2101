"""JSON as RocketMQ's brokers write it: fastjson leaves map keys unquoted that are not text.

5.4.0 (fastjson2 2.0.43) and earlier write `{0:10}` for Map<Integer, …>, `{{"queueId":3}:{…}}` for
Map<MessageQueue, …>. An object used as a key becomes a tuple of its sorted (name, value) pairs. A key given twice is
an error, not a choice.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from consumers.rocketmq.wire.codes import RemoteProtocolError

MAX_DEPTH = 64

_TOKEN = re.compile(
    r"[ \t\r\n]*(?:"
    r"(?P<mark>[{}\[\],:])"
    r'|"(?P<plain>[^"\\\x00-\x1f]*)"'
    r'|(?P<escaped>"[^"\\\x00-\x1f]*(?:\\.[^"\\\x00-\x1f]*)*")'
    r"|(?P<integer>-?(?:0|[1-9][0-9]*))(?![0-9.eE])"
    r"|(?P<real>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<word>true|false|null)"
    r")"
)

_SPACE = re.compile(r"[ \t\r\n]*")

# What can be left of a text that was cut off: nothing, or the beginning of a token.
_UNFINISHED = re.compile(r'[ \t\r\n]*(?:"(?:[^"\\]|\\.)*\\?|-|t|tr|tru|f|fa|fal|fals|n|nu|nul)?', re.DOTALL)

# Only an escape can bring half of a UTF-16 pair, or a NUL. Nobody means them, and PostgreSQL keeps neither: the body of
# one member would take the whole reading with it.
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")

_REPLACED = "\ufffd"

NO_TEXT = "half of a character, or a NUL, in a text"

_WORDS = {"true": True, "false": False, "null": None}


def loads(body: bytes) -> object:
    """The value of `body`. Raises RemoteProtocolError, with the offset, for what is not whole and well formed."""
    value = Reader(body).whole()
    if _has_no_text(body, value):
        raise RemoteProtocolError(f"a body with {NO_TEXT}")
    return value


def loads_plain(body: bytes) -> object:
    """The same for bodies that are standard JSON in every version (21, 201, 203, 28), ten times as fast."""
    try:
        value: object = json.loads(body.decode(), parse_constant=_refuse_constant)
        if _has_no_text(body, value):
            raise ValueError(NO_TEXT)
        return value
    except RecursionError as error:
        raise RemoteProtocolError("a body nested too deeply") from error
    except ValueError as error:
        raise RemoteProtocolError(f"a body that is not JSON ({error})") from error


def readable(text: str) -> str:
    """Returns the text with U+FFFD in place of bytes that are no text, for headers whose answer is valid anyway."""
    return _NO_TEXT.sub(_REPLACED, text)


def _has_no_text(body: bytes, value: object) -> bool:
    return b"\\u" in body and any(map(_NO_TEXT.search, _texts(value)))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, one in value.items():
            yield from _texts(name)
            yield from _texts(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _texts(one)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


class MalformedJson(RemoteProtocolError):
    """`position` is the character at which reading ended. `cut_off`: the text ends there, before its value does."""

    def __init__(self, sentence: str, position: int, *, cut_off: bool = False) -> None:
        super().__init__(sentence)
        self.position = position
        self.cut_off = cut_off


class Reader:
    def __init__(self, body: bytes) -> None:
        try:
            self.text = body.decode()
        except UnicodeDecodeError as error:
            raise RemoteProtocolError(f"a body that is not UTF-8 at byte {error.start}") from error
        self.position = 0

    def whole(self) -> object:
        value = self.value(self.token(), 0)
        end = _SPACE.match(self.text, self.position).end()  # type: ignore[union-attr]
        if end != len(self.text):
            raise self.malformed("something follows the value")
        return value

    def malformed(self, why: str, *, cut_off: bool = False) -> MalformedJson:
        sentence = f"a body that is not JSON: {why} at character {self.position}"
        return MalformedJson(sentence, self.position, cut_off=cut_off)

    def token(self) -> re.Match[str]:
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            cut_off = _UNFINISHED.fullmatch(self.text, self.position) is not None
            raise self.malformed("the body ends early" if cut_off else "no value", cut_off=cut_off)
        self.position = match.end()
        return match

    def value(self, token: re.Match[str], depth: int) -> object:
        kind, text = token.lastgroup, token[token.lastindex or 0]
        if kind == "plain":
            return text
        if kind == "integer":
            return self.integer(text)
        if kind == "mark":
            return self.container(text, depth)
        if kind == "word":
            return _WORDS[text]
        return self.real(text) if kind == "real" else self.escaped(text)

    def container(self, mark: str, depth: int) -> object:
        if depth >= MAX_DEPTH:
            raise self.malformed(f"more than {MAX_DEPTH} levels")
        if mark == "{":
            return self.mapping(depth + 1)
        if mark == "[":
            return self.array(depth + 1)
        raise self.malformed(f"'{mark}' where a value belongs")

    def integer(self, text: str) -> int:
        try:
            return int(text)
        except ValueError as error:  # Python refuses more than 4300 digits
            raise self.malformed("a number too long") from error

    def real(self, text: str) -> float:
        number = float(text)
        if not math.isfinite(number):
            raise self.malformed("a number too large")
        return number

    def escaped(self, text: str) -> str:
        try:
            value: str = json.loads(text)
        except ValueError as error:
            raise self.malformed("a bad escape in a text") from error
        return value

    def array(self, depth: int) -> list[object]:
        values: list[object] = []
        token = self.token()
        if token["mark"] == "]":
            return values
        while True:
            values.append(self.value(token, depth))
            if self.closes("]"):
                return values
            token = self.token()

    def mapping(self, depth: int) -> dict[object, object]:
        values: dict[object, object] = {}
        token = self.token()
        if token["mark"] == "}":
            return values
        while True:
            key = self.key(token, depth)
            if key in values:
                raise self.malformed(f"the key {key!r} a second time")
            if self.token()["mark"] != ":":
                raise self.malformed("no colon after a key")
            values[key] = self.value(self.token(), depth)
            if self.closes("}"):
                return values
            token = self.token()

    def closes(self, mark: str) -> bool:
        found = self.token()["mark"]
        if found not in (mark, ","):
            raise self.malformed(f"neither ',' nor '{mark}'")
        return found == mark

    def key(self, token: re.Match[str], depth: int) -> object:
        if token.lastgroup not in ("plain", "escaped", "integer") and token["mark"] != "{":
            raise self.malformed("no key")
        key = self.value(token, depth)
        if not isinstance(key, dict):
            return key
        if not all(isinstance(name, str) and not isinstance(value, dict | list) for name, value in key.items()):
            raise self.malformed("a key that is not made of names and plain values")
        return tuple(sorted(key.items()))


# The same JSON for readers of files that people edit: every entry of an object as it stands, with its place.
#
# A key that stands twice is two entries: what it means is for the reader of the file to say.
class Entry(NamedTuple):
    """`position` is the character after the key."""

    key: object
    value: object
    position: int


class Entries(list[Entry]):
    """An object of the text, in the order of the text."""


def loads_entries(body: bytes) -> object:
    """Objects come as Entries, keys that are objects as in `loads`. Raises MalformedJson, or RemoteProtocolError."""
    return _EntryReader(body).whole()


class _EntryReader(Reader):
    def mapping(self, depth: int) -> Entries:  # type: ignore[override]
        entries = Entries()
        token = self.token()
        if token["mark"] == "}":
            return entries
        while True:
            key, position = self.key(token, depth), self.position
            if self.token()["mark"] != ":":
                raise self.malformed("no colon after a key")
            entries.append(Entry(key, self.value(self.token(), depth), position))
            if self.closes("}"):
                return entries
            token = self.token()

    def key(self, token: re.Match[str], depth: int) -> object:
        key = super().key(token, depth)
        if not isinstance(key, Entries):
            return key
        fields = {entry.key: entry.value for entry in key}
        if len(fields) < len(key) or not all(isinstance(name, str) for name in fields):
            raise self.malformed("a key with a name that stands twice or is no text")
        if any(isinstance(value, list) for value in fields.values()):
            raise self.malformed("a key that is not made of names and plain values")
        return tuple(sorted(fields.items(), key=lambda field: str(field[0])))
