"""Where a member of a group would start on a queue without a committed offset, by the newest readings and answers."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from consumers.models import QueueSample
from consumers.stores.start import AT_END, Start, would_start

from .overlay import Offsets

Told = tuple[str | None, datetime | None]


def told_start(clients: Iterable[Mapping[str, Any]]) -> Told:
    """consumeTimestamp, and the start of the member that says it: the newest one's. Of `settings`, `started_at`."""
    told = [client for client in clients if client["settings"] and client["started_at"]]
    newest = max(told, key=lambda client: client["started_at"], default=None)
    return (newest["settings"].get("consumeTimestamp"), newest["started_at"]) if newest else (None, None)


def start_without_offset(
    kind: str, consume_from_where: str | None, told: Told, read: Offsets, sample: QueueSample | None
) -> Start:
    """`sample`: what the broker answered, asked as a starting member asks it; None: it was not asked."""
    if sample is not None and (sample.start_offset is not None or sample.start_error is not None):
        return _as_of_now(Start(sample.start_offset, sample.start_rule or "", sample.start_error), read)
    return would_start(kind, consume_from_where, *told, read.min_offset, read.broker_offset, None)


def _as_of_now(start: Start, read: Offsets) -> Start:
    """The broker was asked a while ago: since then the queue has grown at one end, and may have lost the other."""
    if start.offset is None:
        return start
    if start.rule in AT_END:
        return Start(read.broker_offset, start.rule, None if read.broker_offset is not None else read.reason)
    if read.min_offset is not None and read.min_offset > start.offset:
        return Start(read.min_offset, f"{start.rule}, moved up to the min offset")
    return start
