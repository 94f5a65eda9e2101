"""Resets and offsets as CSV, line by line, so that a large one is never held whole. Times are ISO 8601 in UTC.

Null is an empty cell; the column `unknown` says why, by column.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any
from uuid import UUID

from consumers.jobs.csv_cells import cell, line_of
from consumers.models import ResetEvent, ResetOutcome, ResetQueue
from consumers.selectors.resets.queues import queue_row
from consumers.selectors.resets.resets import reset_list
from consumers.selectors.resets.rows import ResetQueueRow, ResetRow
from consumers.selectors.resets.shortened import shortened

ROWS_AT_ONCE = 2_000
RESETS_AT_ONCE = 100

QUEUE_COLUMNS = tuple(field.name for field in fields(ResetQueueRow))
RESET_COLUMNS = tuple(field.name for field in fields(ResetRow) if field.name not in ("seen", "totals", "unknown"))
COUNTS = ("queues", "left_out", "standing", "moving", "done", "not_restorable", "replayed_messages", "skipped_messages")
OUTCOMES = tuple(outcome.value for outcome in ResetOutcome)
AUDIT_COLUMNS = (*RESET_COLUMNS, *COUNTS, *OUTCOMES, "events", "unknown")


def queues_csv(reset_id: UUID) -> Iterator[str]:
    """Every queue of one reset: what was planned, what was done, what was read back."""
    yield line_of(QUEUE_COLUMNS)
    rows = ResetQueue.objects.filter(reset=reset_id).order_by("topic", "broker", "queue_id")
    for queue in rows.iterator(chunk_size=ROWS_AT_ONCE):
        row = vars(queue_row(queue))
        readings = [[reading.at.isoformat(), reading.offset] for reading in row["readings"]]
        yield line_of(cell(value) for value in (row | {"readings": readings}).values())


def resets_csv(
    now: datetime,
    *,
    cluster: str | None = None,
    group: str | None = None,
    status: str | None = None,
    kind: str | None = None,
    by: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Iterator[str]:
    """Resets with all acts around each, the newest first. Filters as `reset_list` has them."""
    yield line_of(AUDIT_COLUMNS)
    filters = {"cluster": cluster, "group": group, "status": status, "kind": kind, "by": by}
    written: set[str] = set()
    page = 0
    while True:
        page += 1
        rows, _ = reset_list(now, **filters, since=since, until=until, page=page, page_size=RESETS_AT_ONCE)
        if not rows:
            return
        # Those that came meanwhile push others onto the next page once more.
        fresh = [row for row in rows if row.id not in written]
        written.update(row.id for row in fresh)
        events = _events([UUID(row.id) for row in fresh])
        for row in fresh:
            yield line_of(map(cell, _audited(row, events[row.id])))


def _audited(row: ResetRow, events: list[dict[str, Any]]) -> list[Any]:
    said = vars(shortened(row))
    unknown, values = dict(said["unknown"]), {name: said[name] for name in RESET_COLUMNS}
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
        said = {"at": event.at.isoformat(), "by": event.by_name, "address": event.address, "via": event.via}
        found[str(event.reset_id)].append(said | {"sentence": event.sentence})
    return found
