"""Exported letters as lines of CSV or JSON. Null is an empty cell without quotes; an empty text has quotes.

A spreadsheet runs a cell that begins as a formula: in CSV such texts begin with an apostrophe.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from .wanted import ExportFormat

FORMULA = ("=", "+", "-", "@", "\t", "\r")
# What no text of a message is: as it is.
OWN = ("body_base64",)


class Lines(Protocol):
    content_type: str

    def head(self) -> str: ...
    def line(self, row: Mapping[str, Any]) -> str: ...
    def incomplete(self, reason: str, messages: int) -> str: ...


class CsvLines:
    """RFC 4180: lines end with CR LF."""

    content_type = "text/csv; charset=utf-8; header=present"

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns

    def head(self) -> str:
        return ",".join(self._columns) + "\r\n"

    def line(self, row: Mapping[str, Any]) -> str:
        return ",".join(_cell(name, row[name]) for name in self._columns) + "\r\n"

    def incomplete(self, reason: str, messages: int) -> str:
        return f"# incomplete: {' '.join(reason.split())} ({messages} messages before)\r\n"


class JsonLines:
    """A JSON object a line."""

    content_type = "application/x-ndjson; charset=utf-8"

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = columns

    def head(self) -> str:
        return ""

    def line(self, row: Mapping[str, Any]) -> str:
        return json.dumps({name: _plain(row[name]) for name in self._columns}, ensure_ascii=False) + "\n"

    def incomplete(self, reason: str, messages: int) -> str:
        return json.dumps({"error": reason, "messages": messages}, ensure_ascii=False) + "\n"


def lines_of(format: ExportFormat, columns: Sequence[str]) -> Lines:
    return CsvLines(columns) if format is ExportFormat.CSV else JsonLines(columns)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _cell(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        value = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        return _quoted(value if name in OWN or not value.startswith(FORMULA) else f"'{value}")
    return str(_plain(value))


def _quoted(text: str) -> str:
    if text and not any(mark in text for mark in ',"\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'
