"""Exported letters as lines of CSV or JSON."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from consumers.errands.csv_cells import LINE_END, cell, line_of

from .wanted import ExportFormat

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
        return line_of(self._columns)

    def line(self, row: Mapping[str, Any]) -> str:
        return line_of(cell(row[name], is_safe=name in OWN) for name in self._columns)

    def incomplete(self, reason: str, messages: int) -> str:
        return f"# incomplete: {' '.join(reason.split())} ({messages} messages before){LINE_END}"


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
