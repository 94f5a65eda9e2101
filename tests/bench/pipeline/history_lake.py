"""A week of windows as a pipeline leaves it: closed hours as one file each, the last hour in parts; rows per group."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa

from consumers.lake.schemas import WINDOWS
from consumers.lake.store import COMPACTED, Lake, hour_folder, rows_in_group
from consumers.lake.windows import put_window

CLUSTER = "bench"
NOW = datetime(2026, 3, 8, 12, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
HOURS = {60: 2, 600: 7 * 24}
QUEUES_OF_TOPIC = 16


@dataclass(frozen=True)
class Extent:
    groups: int
    queues: int

    @property
    def rows(self) -> int:
        return self.groups * self.queues

    def group(self, number: int) -> str:
        return f"bench-group-{number:05d}"


def write_lake(lake: Lake, extent: Extent) -> int:
    """Returns the number of rows."""
    written = 0
    for step, hours in HOURS.items():
        for hour in range(hours):
            start = NOW.replace(minute=0) - hour * HOUR
            if hour:
                rows = windows(extent, step, start, 3600 // step)
                folder = hour_folder(f"windows_{step}", CLUSTER, start)
                lake.write(rows, f"{folder}/{COMPACTED}", WINDOWS, rows_in_group(rows.num_rows))
                written += rows.num_rows
                continue
            for at in starts(start, step):
                put_window(lake, f"windows_{step}", CLUSTER, at, windows(extent, step, at, 1))
                written += extent.rows
    return written


def starts(since: datetime, step: int) -> Iterator[datetime]:
    """The windows that are over by now."""
    while since + timedelta(seconds=step) <= NOW:
        yield since
        since += timedelta(seconds=step)


def windows(extent: Extent, step: int, start: datetime, count: int) -> pa.Table:
    """`count` windows of every queue, in the order of a compacted hour: lags wander, rates are noisy."""
    chance = np.random.default_rng(int(start.timestamp()))
    queue = np.repeat(np.arange(extent.rows), count)
    size = len(queue)
    lag = np.cumsum(chance.integers(-50, 51, size)) % 100_000
    first = int(start.timestamp() * 1_000_000)
    at = first + np.tile(np.arange(count), extent.rows) * step * 1_000_000
    within = queue % extent.queues
    columns = {
        "cluster": _texts([CLUSTER], np.zeros(size, int)),
        "start": pa.array(at).cast(pa.timestamp("us", tz="UTC")),
        "step_seconds": pa.array(np.full(size, step, np.int32)),
        "group": _texts([extent.group(number) for number in range(extent.groups)], queue // extent.queues),
        "topic": _texts([f"Topic{n}" for n in range(extent.queues // QUEUES_OF_TOPIC)], within // QUEUES_OF_TOPIC),
        "broker": _texts(["broker-a", "broker-b"], within % QUEUES_OF_TOPIC // 8),
        "queue_id": pa.array((within % 8).astype(np.int32)),
        "kind": _texts(["normal"], np.zeros(size, int)),
        "lag_messages": pa.array(lag),
        "time_lag_seconds": pa.array(np.round(lag / 37, 3)),
        "time_lag_kind": _texts(["interpolated"], np.zeros(size, int)),
        "consume_rate": pa.array(np.round(chance.random(size) * 40, 2)),
        "produce_rate": pa.array(np.round(chance.random(size) * 40, 2)),
        "readings": pa.array(np.full(size, step // 15, np.int32)),
        "unknown_reason": pa.nulls(size, pa.string()),
        "consumed": pa.array(chance.integers(0, 40 * step, size)),
        "produced": pa.array(chance.integers(0, 40 * step, size)),
        "volume_unknown": pa.nulls(size, pa.string()),
    }
    return pa.table([columns[name] for name in WINDOWS.names], names=WINDOWS.names)


def _texts(texts: list[str], codes: np.ndarray) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(texts))
