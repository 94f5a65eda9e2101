"""One number of every queue of a group over time, as a matrix."""

from datetime import datetime
from typing import Literal

from .queue_windows import queue_windows
from .rows import Heatmap
from .window_range import window_range


def queue_heatmap(
    cluster: str,
    group: str,
    *,
    since: datetime,
    until: datetime,
    step_seconds: int | None = None,
    value: Literal["lag_messages", "time_lag_seconds", "consume_rate", "produce_rate"] = "lag_messages",
) -> Heatmap:
    """Rows in order of topic, broker and queue; columns are the windows; null where nothing is known."""
    windows = window_range(since, until, step_seconds)
    queues = queue_windows(cluster, group, windows)
    values: list[list[float | None]] = []
    for known in queues.values():
        row: list[float | None] = [None] * windows.count
        for index, window in known.items():
            row[index] = getattr(window, value)
        values.append(row)
    return Heatmap(windows.starts, windows.step_seconds, list(queues), values)
