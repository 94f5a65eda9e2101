"""The same JSON for readers of files that people edit: every entry of an object as it stands, with its place.

A key that stands twice is two entries: what it means is for the reader of the file to say.
"""

import re
from typing import NamedTuple

from .fastjson import Reader


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
