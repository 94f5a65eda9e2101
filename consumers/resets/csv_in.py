"""Offsets out of a CSV file, as somebody wrote it or as an export gave it: every fault is told with its line."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from consumers.errands.csv_cells import text_of
from consumers.resets.targets.values import ValueRefused, is_offset, whole

from .wish import QueueKey

COLUMNS = ("topic", "broker", "queue_id", "offset")
DELIMITERS = ",;\t"
MOST_BYTES = 10_000_000
MOST_FAULTS = 10
MOST_QUEUES = 2**31
SHOWN = 40


@dataclass(frozen=True)
class OffsetsIn:
    """`entries`: as the value of an OFFSETS reset. `left_out`: rows whose offset is empty."""

    entries: list[dict[str, Any]]
    left_out: int


@dataclass
class _Read:
    entries: list[dict[str, Any]] = field(default_factory=list)
    lines: dict[QueueKey, int] = field(default_factory=dict)
    left_out: int = 0
    faults: list[str] = field(default_factory=list)

    def fault(self, line: int, sentence: str) -> None:
        self.faults.append(_("Line %(line)s: %(sentence)s") % {"line": line, "sentence": sentence})


def offsets_in(content: bytes | str) -> OffsetsIn:
    """Raises ValueRefused, with a line for each of the first ten faults."""
    text = _text(content)
    rows = _rows(text)
    read = _Read()
    line, header = next(rows, (1, []))
    places = _places(header)
    for line, row in rows:
        _take(read, line, row, places, len(header))
        if len(read.entries) > settings.RESET_QUEUES_MAX:
            read.fault(line, _("more than %s queues are listed (RESET_QUEUES_MAX).") % settings.RESET_QUEUES_MAX)
            break
    if read.faults:
        raise ValueRefused("\n".join(_shown(read.faults)))
    if not read.entries:
        raise ValueRefused(_("No line has an offset: there is nothing to move."))
    return OffsetsIn(read.entries, read.left_out)


def _text(content: bytes | str) -> str:
    if len(content) > MOST_BYTES:
        raise ValueRefused(_("The file is longer than %s bytes: take only the queues that are to move.") % MOST_BYTES)
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content.removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1 if isinstance(content, bytes) else 1
        raise ValueRefused(_("Line %s: it is not written in UTF-8: save the file so.") % line) from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ValueRefused(_("Line %s: it holds a zero byte: this is no CSV file.") % line)
    return text


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not empty, with the line that it begins on."""
    first = text.split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begins = 1
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield begins, row
            begins = reader.line_num + 1
    except csv.Error as error:
        words = {"line": begins, "error": error}
        raise ValueRefused(_("Line %(line)s: it is no CSV (%(error)s): look at its quotes.") % words) from error


def _places(header: Sequence[str]) -> dict[str, int]:
    names = [name.strip().lower() for name in header]
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        words = {"missing": ", ".join(missing), "columns": ", ".join(COLUMNS)}
        raise ValueRefused(
            _("The first line lacks %(missing)s: it must name the columns %(columns)s, in any order.") % words
        )
    if twice := [name for name in COLUMNS if names.count(name) > 1]:
        raise ValueRefused(_("The first line names %s more than once.") % ", ".join(twice))
    return {name: names.index(name) for name in COLUMNS}


def _take(read: _Read, line: int, row: Sequence[str], places: Mapping[str, int], columns: int) -> None:
    if len(row) != columns:
        words = {"cells": len(row), "columns": columns}
        return read.fault(line, _("it has %(cells)s cells, and the first line names %(columns)s columns.") % words)
    cells = {name: row[place].strip() for name, place in places.items()}
    faults = len(read.faults)
    for name in ("topic", "broker"):
        cells[name] = text_of(cells[name])
        if not cells[name]:
            read.fault(line, _("it names no %s.") % name)
    queue_id, offset = whole(cells["queue_id"]), whole(cells["offset"])
    if queue_id is None or not 0 <= queue_id < MOST_QUEUES:
        read.fault(line, _("%s is no queue id: write a whole number, 0 or more.") % _quoted(cells["queue_id"]))
    if cells["offset"] and (offset is None or not is_offset(offset)):
        read.fault(line, _("%s is no offset: write a whole number, 0 or more.") % _quoted(cells["offset"]))
    if len(read.faults) > faults:
        return None
    key = QueueKey(cells["topic"], cells["broker"], queue_id or 0)
    if (first := read.lines.setdefault(key, line)) != line:
        return read.fault(line, _("it names the same queue as line %s.") % first)
    if offset is None:
        read.left_out += 1
        return None
    read.entries.append({"topic": key.topic, "broker": key.broker, "queue_id": key.queue_id, "offset": offset})
    return None


def _quoted(text: str) -> str:
    return f"“{text[:SHOWN]}…”" if len(text) > SHOWN else f"“{text}”"


def _shown(faults: Sequence[str]) -> list[str]:
    more = len(faults) - MOST_FAULTS
    return [*faults[:MOST_FAULTS], *([_("%s more lines are wrong.") % more] if more > 0 else [])]
