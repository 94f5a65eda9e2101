"""Offsets of a broker's file that went back: below what the same file held before, or below the broker's memory.

A broker resumes from its file. An offset there that is lower than it should be is consumed again from there on.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .marks import mark
from .stored_file import StoredFile

KEYS = ["group", "topic", "queue_id"]
# Brokers write their memory every 5 s (flushConsumerOffsetInterval); twice that was surely written.
UNWRITTEN = timedelta(seconds=10)


@dataclass(frozen=True)
class MemoryOffsets:
    """A broker's own offsets at `taken_at`. `rows`: group, topic, queue_id, offset."""

    taken_at: datetime
    rows: pa.Table


@dataclass(frozen=True)
class _Column:
    """A number for each row; where `known` is False it means nothing."""

    values: np.ndarray
    known: np.ndarray

    def above(self, other: "_Column") -> np.ndarray:
        above: np.ndarray = self.known & other.known & (self.values > other.values)
        return above


def mark_went_back(
    file: StoredFile, before: StoredFile | None, memory: MemoryOffsets | None, memory_before: MemoryOffsets | None
) -> StoredFile:
    """`before`: the file as last read. `memory`, `memory_before`: at this and at an earlier reading; None: not read."""
    if file.rows is None or file.kind != "broker_file":
        return file
    offsets = _column(file.rows, "offset")
    held = _looked_up(file.rows, before.rows if before else None)
    now = _looked_up(file.rows, memory.rows if memory else None)
    earlier = _looked_up(file.rows, memory_before.rows if memory_before else None)
    lower = held.above(offsets)
    # What is below the earlier memory, but not below today's, was reset meanwhile.
    behind = earlier.above(offsets) & now.above(offsets) & ~lower & _was_written_since(file, memory_before)

    def say_lower(at: int) -> str:
        offset, before_it = offsets.values[at], held.values[at]
        cause = _cause(int(offset), int(before_it), int(now.values[at]) if now.known[at] else None)
        return f"{offset} is lower than {before_it}, which this file held before: {cause}"

    def say_behind(at: int) -> str:
        assert memory_before is not None
        return (
            f"{offsets.values[at]} is lower than {earlier.values[at]}, which the broker's memory held at "
            f"{memory_before.taken_at:%H:%M:%S} UTC, before this file was written: edited, or not this broker's file."
        )

    return mark(mark(file, lower, "went_back", say_lower), behind, "behind_memory", say_behind)


def _cause(offset: int, held: int, memory: int | None) -> str:
    again = f"{held - offset} messages are consumed again if the broker starts from it."
    if memory is None:
        return f"edited, restored from an older copy, or reset (the broker's memory is not known). {again}"
    if memory >= held:
        return f"edited or restored, as the broker's memory holds {memory} and will be written over it. {again}"
    return "the broker's memory went back too, as after a reset."


def _was_written_since(file: StoredFile, memory: MemoryOffsets | None) -> bool:
    return memory is not None and file.modified_at is not None and file.modified_at >= memory.taken_at + UNWRITTEN


def _column(rows: pa.Table, name: str) -> _Column:
    column = rows[name]
    return _Column(pc.fill_null(column, 0).to_numpy(), np.asarray(pc.is_valid(column).to_numpy(), bool))


def _looked_up(rows: pa.Table, other: pa.Table | None) -> _Column:
    """The offset that `other` has for each row; the lowest where it has several."""
    if other is None or not other.num_rows or not rows.num_rows:
        return _Column(np.zeros(rows.num_rows, np.int64), np.zeros(rows.num_rows, bool))
    wanted = rows.select(KEYS).append_column("at", pa.array(np.arange(rows.num_rows)))
    lowest = other.select([*KEYS, "offset"]).group_by(KEYS).aggregate([("offset", "min")])
    return _column(wanted.join(lowest, KEYS, join_type="left outer").sort_by("at"), "offset_min")
