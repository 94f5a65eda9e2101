"""Typed fields of a body: what is missing or of another type is an error that names the call and the field.

An optional field that is missing or null is None, never a zero.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from consumers.rocketmq.wire.codes import RemoteProtocolError, call_name

Value = TypeVar("Value")
# A map's key is a name like any other: numbers and, for queues, tuples stand where fastjson leaves them unquoted.
Name = Any
_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,18}")
# A Java long has up to 19 digits.
_LONG = re.compile(r"-?[0-9]{1,19}")


def number_of(setting: object) -> int | None:
    """Returns the number of a setting, which clients and brokers send as text. Returns None where `setting` is absent
    or no whole number."""
    return int(setting) if isinstance(setting, str) and _LONG.fullmatch(setting) else None


def count_of(setting: object) -> int | None:
    """As number_of. Returns None for a negative number too, which is no count or length of time."""
    number = number_of(setting)
    return None if number is None or number < 0 else number


class Fields:
    """The object at `path` of the answer to `request_code`. Paths become text only when something is wrong there."""

    def __init__(self, value: object, request_code: int, path: tuple[Name, ...] = ()) -> None:
        self._request_code, self._path = request_code, path
        if not isinstance(value, dict):
            raise self.wrong("", "is missing" if value is None else "is not an object")
        self._values: dict[Name, object] = value

    def names(self) -> list[Name]:
        return list(self._values)

    def has(self, name: Name) -> bool:
        """False also where it is null."""
        return self._values.get(name) is not None

    def text(self, name: Name) -> str:
        return self._required(name, self.optional_text(name))

    def optional_text(self, name: Name) -> str | None:
        value = self._values.get(name)
        if value is not None and not isinstance(value, str):
            raise self.wrong(name, "is not text")
        return value

    def integer(self, name: Name) -> int:
        return self._required(name, self.optional_integer(name))

    def optional_integer(self, name: Name) -> int | None:
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or not -(2**63) <= value < 2**63:
            raise self.wrong(name, "is not a whole number of 64 bits")
        return value

    def number_text(self, name: Name) -> int:
        """A whole number written as text, as headers carry them."""
        return self._required(name, self.optional_number_text(name))

    def optional_number_text(self, name: Name) -> int | None:
        text = self.optional_text(name)
        if text is not None and not _WHOLE_NUMBER.fullmatch(text):
            raise self.wrong(name, "is not a whole number of 64 bits")
        return None if text is None else int(text)

    def small(self, name: Name) -> int:
        """A whole number of 32 bits."""
        value = self.integer(name)
        if not -(2**31) <= value < 2**31:
            raise self.wrong(name, "is not a whole number of 32 bits")
        return value

    def optional_moment(self, name: Name) -> int | None:
        """Milliseconds; None also for 0 and below, which a Java long holds while there is nothing to tell."""
        value = self.optional_integer(name)
        return value if value is not None and value > 0 else None

    def optional_real(self, name: Name) -> float | None:
        value = self._values.get(name)
        if value is None:
            return None
        if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
            raise self.wrong(name, "is not a number")
        return float(value)

    def flag(self, name: Name) -> bool:
        return self._required(name, self.optional_flag(name))

    def optional_flag(self, name: Name) -> bool | None:
        value = self._values.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(name, "is not true or false")
        return value

    def inner(self, name: Name) -> "Fields":
        return Fields(self._values.get(name), self._request_code, (*self._path, name))

    def optional_inner(self, name: Name) -> "Fields | None":
        return None if self._values.get(name) is None else self.inner(name)

    def entries(self, name: Name) -> "Iterator[tuple[Name, Fields]]":
        """The entries of a map of objects, keys as they came."""
        table = self.inner(name)
        return ((key, table.inner(key)) for key in table.names())

    def queues(self, name: Name) -> "Iterator[tuple[Fields, Fields]]":
        """The entries of a Map<MessageQueue, …>: the fields of the queue and those of its value."""
        for key, value in self.entries(name):
            yield self._queue(name, key), value

    def queue_integers(self, name: Name) -> "Iterator[tuple[Fields, int]]":
        """The entries of a Map<MessageQueue, Long>."""
        table = self.inner(name)
        return ((self._queue(name, key), table.integer(key)) for key in table.names())

    def items(self, name: Name) -> "list[Fields]":
        """A list of objects."""
        elements = self._elements(name)
        return [elements.inner(index) for index in elements.names()]

    def texts(self, name: Name) -> list[str]:
        elements = self._elements(name)
        return [elements.text(index) for index in elements.names()]

    def integers(self, name: Name) -> list[int]:
        elements = self._elements(name)
        return [elements.integer(index) for index in elements.names()]

    def text_map(self, name: Name) -> Mapping[str, str]:
        table = self.inner(name)
        return {table.as_text(key): table.text(key) for key in table.names()}

    def optional_text_map(self, name: Name) -> Mapping[str, str] | None:
        return None if self._values.get(name) is None else self.text_map(name)

    def numbered_texts(self, name: Name) -> dict[int, str]:
        table = self.inner(name)
        return {self._number(name, key): table.text(key) for key in table.names()}

    def numbered_integers(self, name: Name) -> dict[int, int]:
        table = self.inner(name)
        return {self._number(name, key): table.integer(key) for key in table.names()}

    def wrong(self, name: Name, why: str) -> RemoteProtocolError:
        place = self._at(name)
        field = f"field {place}" if place else "the body"
        return RemoteProtocolError(f"in the answer to {call_name(self._request_code)} {field} {why}")

    def _queue(self, name: Name, key: Name) -> "Fields":
        if not isinstance(key, tuple):
            raise self.wrong(name, f"has the key {key!r}, which is not a queue")
        return Fields(dict(key), self._request_code, (*self._path, f"{name} (key)"))

    def _elements(self, name: Name) -> "Fields":
        values = self._values.get(name)
        if not isinstance(values, list):
            raise self.wrong(name, "is missing" if values is None else "is not a list")
        return Fields(dict(enumerate(values)), self._request_code, (*self._path, name))

    def as_text(self, key: Name) -> str:
        if not isinstance(key, str):
            raise self.wrong("", f"has the key {key!r}, which is not text")
        return key

    def _number(self, name: Name, key: Name) -> int:
        """A standard JSON encoder would write the number as text."""
        if isinstance(key, str) and key.isascii() and key.isdigit() and len(key) < 19:
            return int(key)
        if not isinstance(key, int) or not -(2**31) <= key < 2**31:
            raise self.wrong(name, f"has the key {key!r}, which is not a whole number of 32 bits")
        return key

    def _at(self, name: Name) -> str:
        return ".".join(str(part) for part in (*self._path, name) if part != "")

    def _required(self, name: Name, value: Value | None) -> Value:
        if value is None:
            raise self.wrong(name, "is missing")
        return value
