"""Windows per queue, out of the lake."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import pyarrow.compute as pc
from django.conf import settings

from consumers.lake.reader import read
from consumers.lake.store import Lake

from .window_range import WindowRange

QueueKey = tuple[str, str, int]
COLUMNS = (
    "start",
    "topic",
    "broker",
    "queue_id",
    "lag_messages",
    "time_lag_seconds",
    "consume_rate",
    "produce_rate",
    "readings",
    "unknown_reason",
)
RATES = ("consume_rate", "produce_rate")
TEN_MINUTES = 600


@dataclass(frozen=True)
class Window:
    lag_messages: int | None
    time_lag_seconds: float | None
    consume_rate: float | None
    produce_rate: float | None
    readings: int
    unknown_reason: str | None


def queue_windows(cluster: str, group: str, windows: WindowRange) -> dict[QueueKey, dict[int, Window]]:
    """Per queue, in order, the windows that were aggregated, by their place in the range."""
    step = min(windows.step_seconds, TEN_MINUTES)
    lake = Lake.at(settings.CONSUMERSCOPE_LAKE)
    found = read(
        lake,
        f"windows_{step}",
        cluster,
        windows.start,
        windows.until,
        columns=COLUMNS,
        filter=pc.field("group") == group,
    ).sort_by([("topic", "ascending"), ("broker", "ascending"), ("queue_id", "ascending"), ("start", "ascending")])
    queues: dict[QueueKey, dict[int, Window]] = defaultdict(dict)
    rows = zip(*(found.column(name).to_pylist() for name in COLUMNS), strict=True)
    parts = windows.step_seconds // step
    for (key, index), same in groupby(rows, key=lambda row: (row[1:4], windows.index(row[0]))):
        queues[key][index] = _joined([Window(*row[4:]) for row in same], parts)
    return dict(queues)


def _joined(parts: list[Window], expected: int) -> Window:
    """Shorter windows as one: the lag of the last, the mean rate where every part has one."""
    if len(parts) == expected == 1:
        return parts[0]
    last = parts[-1]
    rates: dict[str, Any] = {}
    for name in RATES:
        known = [getattr(part, name) for part in parts if getattr(part, name) is not None]
        rates[name] = sum(known) / expected if len(known) == expected else None
    return Window(
        lag_messages=last.lag_messages,
        time_lag_seconds=last.time_lag_seconds,
        readings=sum(part.readings for part in parts),
        unknown_reason=last.unknown_reason,
        **rates,
    )
