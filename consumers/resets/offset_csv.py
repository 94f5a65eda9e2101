"""Lists of offsets as CSV: parsed, with every error by its line, and written."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils.translation import gettext as _, ngettext

from consumers.models import ConsumerGroup, QueueSnapshot, ResetEvent, ResetOutcome, ResetQueue, TopicKind
from consumers.queries.limits import broker_ages, limits
from consumers.queries.queues.overlay import offsets
from consumers.resets.target_values import QueueKey, ValueRefused, is_offset, whole
from consumers.rest.answers import cell, line_of, text_of
from consumers.words.reasons import stored_words

from .queries import ResetFilters, reset_list, shortened
from .rows import ResetQueueRow, ResetRow, queue_row

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
    """Raises ValueRefused, with a line for each of the first ten errors."""
    text = _text(content)
    rows = _rows(text)
    read = _Read()
    line, header = next(rows, (1, []))
    places = _places(header)
    for line, row in rows:
        _take(read, line, row, places, len(header))
        if len(read.entries) > settings.RESET_QUEUES_MAX:
            read.fault(line, _("more than %s queues (RESET_QUEUES_MAX).") % settings.RESET_QUEUES_MAX)
            break
    if read.faults:
        raise ValueRefused("\n".join(_shown(read.faults)))
    if not read.entries:
        raise ValueRefused(_("No line has an offset: nothing to move."))
    return OffsetsIn(read.entries, read.left_out)


def _text(content: bytes | str) -> str:
    if len(content) > MOST_BYTES:
        raise ValueRefused(_("The file is larger than %s bytes. Keep only the queues to move.") % MOST_BYTES)
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content.removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1 if isinstance(content, bytes) else 1
        raise ValueRefused(_("Line %s is not UTF-8: save the file as UTF-8.") % line) from error
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise ValueRefused(_("Line %s has a zero byte: the file is not CSV.") % line)
    return text


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Each non-empty row, with the line on which it begins."""
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
        raise ValueRefused(_("Line %(line)s is not valid CSV (%(error)s): check its quotes.") % words) from error


def _places(header: Sequence[str]) -> dict[str, int]:
    names = [name.strip().lower() for name in header]
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        words = {"missing": ", ".join(missing), "columns": ", ".join(COLUMNS)}
        raise ValueRefused(_("The header lacks %(missing)s. It needs the columns %(columns)s, in any order.") % words)
    if twice := [name for name in COLUMNS if names.count(name) > 1]:
        raise ValueRefused(_("The header names %s more than once.") % ", ".join(twice))
    return {name: names.index(name) for name in COLUMNS}


def _take(read: _Read, line: int, row: Sequence[str], places: Mapping[str, int], columns: int) -> None:
    if len(row) != columns:
        words = {"cells": len(row), "columns": columns}
        template = ngettext(
            "%(cells)s cell, but the header has %(columns)s columns.",
            "%(cells)s cells, but the header has %(columns)s columns.",
            len(row),
        )
        return read.fault(line, template % words)
    cells = {name: row[place].strip() for name, place in places.items()}
    faults = len(read.faults)
    for name in ("topic", "broker"):
        cells[name] = text_of(cells[name])
        if not cells[name]:
            read.fault(line, _("no %s.") % name)
    queue_id, offset = whole(cells["queue_id"]), whole(cells["offset"])
    if queue_id is None or not 0 <= queue_id < MOST_QUEUES:
        read.fault(line, _("%s is not a queue id: use a whole number, 0 or more.") % _quoted(cells["queue_id"]))
    if cells["offset"] and (offset is None or not is_offset(offset)):
        read.fault(line, _("%s is not an offset: use a whole number, 0 or more.") % _quoted(cells["offset"]))
    if len(read.faults) > faults:
        return None
    key = QueueKey(cells["topic"], cells["broker"], queue_id or 0)
    if (first := read.lines.setdefault(key, line)) != line:
        return read.fault(line, _("same queue as line %s.") % first)
    if offset is None:
        read.left_out += 1
        return None
    read.entries.append({"topic": key.topic, "broker": key.broker, "queue_id": key.queue_id, "offset": offset})
    return None


def _quoted(text: str) -> str:
    return f"“{text[:SHOWN]}…”" if len(text) > SHOWN else f"“{text}”"


def _shown(faults: Sequence[str]) -> list[str]:
    more = len(faults) - MOST_FAULTS
    if more <= 0:
        return list(faults)
    return [*faults[:MOST_FAULTS], ngettext("%s more line has errors.", "%s more lines have errors.", more) % more]


# Resets and offsets as CSV, line by line, so that a large list is never complete in memory. Times are ISO 8601 in UTC.

ROWS_AT_ONCE = 2_000
RESETS_AT_ONCE = 100

APART = ("seen", "totals", "codes")
QUEUE_COLUMNS = tuple(field.name for field in fields(ResetQueueRow))
RESET_COLUMNS = tuple(field.name for field in fields(ResetRow) if field.name not in (*APART, "unknown"))
COUNTS = ("queues", "left_out", "standing", "moving", "done", "not_restorable", "replayed_messages", "skipped_messages")
OUTCOMES = tuple(outcome.value for outcome in ResetOutcome)
AUDIT_COLUMNS = (*RESET_COLUMNS, *COUNTS, *OUTCOMES, "events", "unknown")


def queues_csv(reset_id: UUID) -> Iterator[str]:
    """Every queue of one reset: planned, applied and read-back values."""
    yield line_of(QUEUE_COLUMNS)
    rows = ResetQueue.objects.filter(reset=reset_id).order_by("topic", "broker", "queue_id")
    for queue in rows.iterator(chunk_size=ROWS_AT_ONCE):
        row = vars(queue_row(queue))
        readings = [[reading.at.isoformat(), reading.offset] for reading in row["readings"]]
        yield line_of(cell(value) for value in (row | {"readings": readings}).values())


def resets_csv(now: datetime, filters: ResetFilters) -> Iterator[str]:
    """Resets with all actions on each, the newest first."""
    yield line_of(AUDIT_COLUMNS)
    written: set[str] = set()
    page = 0
    while True:
        page += 1
        rows, _ = reset_list(now, filters, page=page, page_size=RESETS_AT_ONCE)
        if not rows:
            return
        # New resets push others onto the next page, where they appear again.
        fresh = [row for row in rows if row.id not in written]
        written.update(row.id for row in fresh)
        events = _events([UUID(row.id) for row in fresh])
        for row in fresh:
            yield line_of(map(cell, _audited(row, events[row.id])))


def _audited(row: ResetRow, events: list[dict[str, Any]]) -> list[Any]:
    fields = vars(shortened(row))
    unknown, values = dict(fields["unknown"]), {name: fields[name] for name in RESET_COLUMNS}
    totals = {} if row.totals is None else vars(row.totals)
    counts = {name: totals.get(name) for name in COUNTS}
    outcomes = {name: None if row.totals is None else row.totals.outcomes.get(name, 0) for name in OUTCOMES}
    why = totals.get("unknown", {})
    no_plan = row.unknown.get("totals", "")
    unknown |= {name: why.get(name, no_plan) for name, number in (counts | outcomes).items() if number is None}
    shown = {name: reason for name, reason in unknown.items() if name in AUDIT_COLUMNS}
    return [*values.values(), *counts.values(), *outcomes.values(), events, shown]


def _events(ids: Sequence[UUID]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for event in ResetEvent.objects.filter(reset__in=ids).order_by("pk"):
        values = {"at": event.at.isoformat(), "by": event.by_name, "address": event.address, "via": event.via}
        found[str(event.reset_id)].append(values | {"sentence": stored_words(event.sentence)})
    return found


# A group's offsets, queue by queue, as CSV that a reset accepts as its target: from the newest reading, never
# estimated.

EXPORT_COLUMNS = ("topic", "broker", "queue_id", "offset", "min", "max", "taken_at", "unknown_reason")


def group_offsets_csv(group: ConsumerGroup, now: datetime) -> Iterator[str]:
    """Includes its retry topics, without its DLQ. `taken_at`: the last successful reading of the broker."""
    yield line_of(EXPORT_COLUMNS)
    brokers = {broker.name: broker for broker in broker_ages([group.cluster_id])[group.cluster_id].brokers}
    bounds = limits()
    rows = QueueSnapshot.objects.filter(group=group).exclude(queue__topic__kind=TopicKind.DLQ)
    ordered = rows.select_related("queue__topic").order_by("queue__topic__name", "queue__broker", "queue__queue_id")
    for snapshot in ordered.iterator(chunk_size=ROWS_AT_ONCE):
        queue = snapshot.queue
        broker = brokers.get(queue.broker)
        read = offsets(snapshot, broker, now, bounds)
        taken_at = broker.last_read_at if broker is not None else None
        values = (read.consumer_offset, read.min_offset, read.broker_offset, taken_at, read.reason)
        yield line_of(map(cell, (queue.topic.name, queue.broker, queue.queue_id, *values)))
