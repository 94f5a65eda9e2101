"""Windows per queue, out of the lake."""

from collections import defaultdict
from itertools import groupby
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings

from consumers.lake.one_group import read_group
from consumers.lake.store import Lake
from consumers.selectors.column_lists import as_list

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
SECOND = 1_000_000


class Window(NamedTuple):
    """A tuple, because a page makes ten thousands of them."""

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
    found = read_group(lake, f"windows_{step}", cluster, group, windows.start, windows.until, COLUMNS)
    found = found.sort_by([(name, "ascending") for name in ("topic", "broker", "queue_id", "start")])
    # Places as numbers: thousands of moments as objects take longer than all the rest.
    start = pc.cast(found["start"], pa.int64()).to_numpy()
    places = (start // SECOND - int(windows.start.timestamp())) // windows.step_seconds
    rows = zip(places.tolist(), *(as_list(found[name]) for name in COLUMNS[1:]), strict=True)
    parts = windows.step_seconds // step
    queues: dict[QueueKey, dict[int, Window]] = defaultdict(dict)
    for (key, index), same in groupby(rows, key=lambda row: (row[1:4], row[0])):
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
